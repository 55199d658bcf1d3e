"""Whole histories of one order, drawn from a seed: crashes between any two steps, lags, lost answers, another process."""

from __future__ import annotations

import random

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState
from gpucloud.reconcile import evidence, takeover
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.evidence import Proofs
from gpucloud.reconcile.facts import Absent, Present, Refusal
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.order import TrackedOrder
from gpucloud.reconcile.placement import Placement
from support.builders import a_reading, a_record, an_order

GRACE, SINCE = 30.0, 1000.0
MARKED = Proofs(marked=True, adoptable=False, here=Identity("Msc1", "acme", "train"), grace=GRACE)
CHOSEN = Proofs(marked=False, adoptable=False, here=Identity("Msc1", "acme", "train"), grace=GRACE)
LOST_ANSWER = Refusal(ErrorKind.OUTCOME_UNKNOWN, "no answer", ambiguous=True)
INVALID = Refusal(ErrorKind.INVALID, "no", ambiguous=False)
NEW = an_order("train", OrderState.INTENDED, id="new")


class History:
    """One object, its cloud, and one process after another, drawn from a seed.

    What is ordered shows within a grace of an unclear answer, and within ten of an acceptance or of an end of the process.
    A listing may lack what is there, but not two in a row.
    """

    def __init__(self, seed):
        self.r, self.now, self.made, self.status, self.sent = random.Random(seed), SINCE, None, None, 0
        self.proofs = self.r.choice((MARKED, CHOSEN))
        self.begin()

    def begin(self):
        """A process begins: it knows the status alone."""
        self.first_seen, self.row, self.partial, self.versions = self.now, (), False, frozenset()
        self.tracked = TrackedOrder(None, self.now)
        self.notice()

    def notice(self):
        self.tracked = takeover.merged(self.tracked, self.status, self.versions, self.now)
        self.versions |= frozenset() if self.status is None else {(self.status.id, state) for state in OrderState}

    def wait(self):
        self.now += self.r.choice((0.5, 2.0, 2.0, 9.0, 31.0, 301.0))

    def listing(self):
        there = self.made is not None and self.made <= self.now
        self.partial = there and not self.partial and self.r.random() < 0.2
        if there and not self.partial:
            self.row, found = (), Present(a_record(name="train"), self.now)
        else:
            self.row = (*self.row, self.now)
            found = Absent(self.now, self.row[0], self.row[-2] if len(self.row) > 1 else None)
        self.tracked = evidence.observed(self.tracked, found, self.proofs, a_reading(self.now), self.first_seen)

    def write(self):
        self.status = self.tracked.order

    def stranger(self):
        """Another process of ours records an order, and may send it, when it believes the name free: nothing was ever made."""
        if self.made is None and self.r.random() < 0.3:
            self.status = NEW.model_copy(update={"id": f"stranger {self.now}"})
            if self.r.random() < 0.5:
                self.made = self.now + self.r.uniform(0, 299)
            self.notice()

    def free(self):
        """As the chain judges it: reconcile/core/create.py."""
        if not self.row or self.row[-1] < self.now - 10 or not orders.may_be_recorded(self.tracked.state):
            return False
        needs_two = self.tracked.earlier_unclear or not self.proofs.marked
        seen = (self.row[-2] if len(self.row) > 1 else None) if needs_two else self.row[-1]
        return seen is not None and seen >= evidence.missing_from(self.tracked, GRACE, self.first_seen)

    def order(self):
        """Record, write, send, hear: the process may end between any two of these."""
        if not self.free() or orders.was_seen(self.tracked.order):
            return None
        self.tracked = orders.record(self.tracked, NEW.model_copy(update={"id": f"{self.now}"}), self.now)
        self.versions |= {(self.tracked.order.id, state) for state in OrderState}
        ends_at = self.r.choice((None, None, None, "before it is written", "written", "sent", "answered"))
        if ends_at == "before it is written":
            return self.begin()
        self.write()
        if ends_at == "written":
            return self.begin()
        assert self.made is None, "bought twice"
        self.sent += 1
        outcome = self.r.choice(("accepted", "accepted", "accepted, and lost", "unclear", "unclear, and not made", "refused"))
        if ends_at == "sent" and outcome != "refused":
            self.made = self.now + self.r.uniform(0, 299)
            return self.begin()
        if outcome in {"accepted", "unclear"}:
            self.made = self.now + self.r.uniform(0, 299 if outcome == "accepted" else 29)
        refusal = {"a": None, "u": LOST_ANSWER, "r": INVALID}[outcome[0]]
        chosen = not self.proofs.marked
        self.tracked = orders.answered(self.tracked, refusal, Placement(), self.now, chosen_name=chosen)
        if ends_at == "answered":
            if self.made is not None and refusal is not None:
                self.made = min(self.made, self.now + 29)
            return self.begin()
        return None

    def crash(self):
        if self.r.random() < 0.2:
            self.begin()

    def live(self, steps=60):
        for _ in range(steps):
            self.r.choice(
                (
                    self.wait,
                    self.wait,
                    self.listing,
                    self.listing,
                    self.listing,
                    self.order,
                    self.write,
                    self.crash,
                    self.stranger,
                )
            )()
            if self.made is not None:
                known = self.tracked.order
                assert orders.may_exist(known), (
                    f"{self.tracked}: what was made at {self.made} counts as not there at {self.now}"
                )


@pytest.mark.parametrize("hundred", range(30))
def test_no_history_buys_twice_or_forgets(hundred):
    sent = made = 0
    for seed in range(hundred * 100, hundred * 100 + 100):
        history = History(seed)
        try:
            history.live()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        sent, made = sent + history.sent, made + (history.made is not None)
    assert sent > 50
    assert made > 50
