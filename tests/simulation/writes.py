"""The oracle of writes: what an operator writes rests on what stands there, and what it lets go is let go by all.

Every write names the version that it changes, so whoever edits, pauses or deletes a moment before it arrives is heard.
"""

from __future__ import annotations

import json
import math
from datetime import datetime
from typing import TYPE_CHECKING, Any

from simulation.books import FINALIZER, PAUSED, annotated
from simulation.process import EPOCH

if TYPE_CHECKING:
    from simulation.books import Life
    from simulation.process import Process
    from simulation.world import World

LONGEST_PASS = 45.0  # seconds from an object's view to the write that rests on it
MAY_EXIST = frozenset({"Intended", "Accepted", "Unclear", "Overdue", "Seen", "Destroying"})
BEGINNING = EPOCH.timestamp()
LOST_AT_ONCE, AT_ONCE_SECONDS = 3, 60.0  # so many that vanish together are not believed to be gone
RETRIED_SECONDS = 60.0  # the longest pause before a write that was refused is sent again


class Writes:
    """Looks at each write of an operator as it leaves, and as it is committed."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._received: dict[tuple[str, str], list[tuple[float, int]]] = {}  # by process and UID: when which version came
        self._writers: dict[str, str] = {}  # by UID: the process that sent the last write of its status
        self._outlived: frozenset[str] = frozenset()  # processes that ran when etcd was restored
        self._tried: dict[tuple[str, str], float] = {}  # by process and UID: when a write that nothing has come of was sent
        self._named: set[tuple[str, str, int | None]] = set()  # the UID, version and generation that a write of a status named
        self._given_twice: set[tuple[str, str, int | None]] = set()  # those of writes that were sent before etcd was restored
        self._lost: dict[str, float] = {}  # by UID: since when a status says that what is there is lost

    def writer(self, uid: str) -> str:
        """The process that sent the last write of an object's status; empty: none."""
        return self._writers.get(uid, "")

    def refused_at(self, process: Process, uid: str) -> float:
        """When a process last sent a write of an object's status that has not been committed; before all times if it was."""
        return self._tried.get((process.name, uid), -math.inf)

    def restored(self) -> None:
        """Etcd has gone back in time, and versions with it."""
        self._received.clear()
        self._given_twice |= self._named
        self._outlived |= {process.name for process in self._world.processes if process.alive}

    def sent(self, process: Process, method: str, path: str, body: str | None) -> None:
        """An operator sends a write.

        Excused: the object is gone, and nothing can be written over; a late event may have brought it back to who dropped it.
        """
        if method != "PUT" or not path.endswith("/status"):
            return
        said = json.loads(body or "{}")
        meta = said.get("metadata") or {}
        judged = (said.get("status") or {}).get("observedGeneration")
        self._named.add((meta.get("uid", ""), meta.get("resourceVersion", ""), judged))
        self._writers[meta.get("uid", "")] = process.name
        self._tried[process.name, meta.get("uid", "")] = self._world.loop.time()
        now, version = self._world.loop.time(), int(meta.get("resourceVersion") or 0)
        newer = [at for at, seen in self._received.get((process.name, meta.get("uid", "")), ()) if seen > version]
        life = self._world.judge.books.lives.get(meta.get("uid", ""))
        longest = LONGEST_PASS + process.slept_within(now, LONGEST_PASS)
        if version and life is not None and life.now is not None and any(now - at > longest for at in newer):
            words = f"{process.name} writes {path} upon version {version}, and was shown a later one {now - newer[0]:.0f} s ago"
            self._world.judge.found("older view", words)

    def answered(self, process: Process, method: str, path: str, answer: str) -> None:
        """The apiserver has answered a write, and shown what stands now."""
        if method == "PUT" and path.endswith("/status"):
            meta = json.loads(answer)["metadata"]
            self._received.setdefault((process.name, meta["uid"]), []).append(
                (self._world.loop.time(), int(meta["resourceVersion"]))
            )

    def committed(self, life: Life, before: dict[str, Any] | None, after: dict[str, Any] | None) -> None:
        """A write of an operator has changed one of our objects.

        Excused: it was sent before a restore of etcd, which gives versions twice, and arrives when the one that it names stands
        again; or by a process that ran through it: until that lists again the version that it names may be another's, and
        nothing tells before the answer comes (docs/how-to/disaster-recovery.md).
        """
        self._tried.pop((self._writers.get(life.uid, ""), life.uid), None)
        if before is None:
            return
        if _frees(before, after) and annotated(before, PAUSED) == "true":
            self._world.judge.found("paused", f"{life.name} was let go while it was paused")
        if after is None:
            return
        status, generation = after.get("status") or {}, after["metadata"]["generation"]
        judged, stood = status.get("observedGeneration"), before.get("status") or {}
        # What became of an order may be recorded beside verdicts that stand: those say which generation they are of.
        verdicts = {name: value for name, value in status.items() if name != "order"}
        said = verdicts != {name: value for name, value in stood.items() if name != "order"}
        twice = self._world.judge.may_be_unnoticed(life) and self._writers.get(life.uid) in self._outlived
        named = life.uid, before["metadata"]["resourceVersion"], judged
        twice |= self._world.judge.has_just_gone_back(life) and named in self._given_twice
        if said and judged != generation and not twice:
            words = f"{life.name}: a status of generation {judged} was written over generation {generation}"
            self._world.judge.found("overwritten", words)
        self._note_billed(life, stood, status)
        self._note_adopted(life)
        self._note_lost(life, (status.get("order") or {}).get("state") == "Lost")

    def _note_billed(self, life: Life, stood: dict[str, Any], status: dict[str, Any]) -> None:
        """A write begins and ends periods in which a VM is billed, and neither adds time to their sum nor loses any.

        Excused: what the clocks of two processes differ by, and the time that a write takes, with what its process slept
        meanwhile. What is lost costs nothing.
        """
        if life.kind != "GpuVM" or status.get("vmId") is None:
            return
        now, skews = self._world.loop.time(), [abs(process.skew) for process in self._world.processes]
        before, after = (_billed(one, BEGINNING + now) for one in (stood, status))
        slept = (each.slept_within(now, LONGEST_PASS) for each in self._world.processes if each.name == self.writer(life.uid))
        if abs(after - before) > LONGEST_PASS + sum(slept) + 2 * max(skews, default=0.0):
            words = f"{life.name} was billed for {before:.0f} s until now, and a status says {after:.0f}"
            self._world.judge.found("miscounted", words)

    def _note_adopted(self, life: Life) -> None:
        """One thing has one adopter. With the operator's own account no namespace adopts a VPC: it may be anybody's."""
        self._note_second_adopter(life)
        adopts = life.kind == "GpuVpc" and life.spec.get("adoption", "Never") != "Never" and life.ready.startswith("True/")
        if not adopts or not self._world.scenario.own_account:
            return
        for table, row, maker in self._world.cloud.live():
            wanted = (str(life.spec.get("cluster")).casefold(), life.spec.get("name"))
            others = table == "vpcs" and (row.cluster.casefold(), row.name) == wanted and maker != life.uid
            if others and not self._world.judge.ambiguous("GpuVpc", row):
                self._world.judge.found("another's VPC", f"{life.name} is Ready, and its VPC was made by {maker!r}")

    def _note_second_adopter(self, life: Life) -> None:
        """Two objects that are Ready have not adopted one thing."""
        if life.kind == "GpuVpc" or not (life.status.get("adopted") and life.ready.startswith("True/")):
            return
        order = life.status.get("order") or {}
        place = tuple(order.get(field) for field in ("cloudId", "vpc"))
        for other in self._world.judge.books.lives.values():
            theirs = other.status.get("order") or {}
            same = other.kind == life.kind and tuple(theirs.get(field) for field in ("cloudId", "vpc")) == place
            stands = other.now is not None and other.status.get("adopted") and other.ready.startswith("True/")
            if other is not life and same and stands:
                self._world.judge.found("adopted twice", f"{life.name} and {other.name} are Ready with one {life.kind}")

    def _note_lost(self, life: Life, said: bool) -> None:
        """Several things that are there are not called lost at once."""
        if not said or not self._is_there(life):
            self._lost.pop(life.uid, None)
            return
        now = self._world.loop.time()
        self._lost.setdefault(life.uid, now)
        lives, where = self._world.judge.books.lives, _listed_in(life)  # each listing is judged by itself
        many = [uid for uid, since in self._lost.items() if now - since < AT_ONCE_SECONDS and _listed_in(lives[uid]) == where]
        if len(many) >= LOST_AT_ONCE:
            self._world.judge.found("lost", f"{life.name} and {len(many) - 1} others are called lost, and are there")

    def _is_there(self, life: Life) -> bool:
        return any(not getattr(row, "leaving", False) for _, row in self._world.cloud.made_for(life.uid))

    def _is_known(self, life: Life) -> bool:
        """Whether it has something that is not on its way out, and that an operator could know of."""
        judge, rows = self._world.judge, self._world.cloud.made_for(life.uid)
        there = (row for _, row in rows if not getattr(row, "leaving", False))
        return any(not judge.forgives(judge.untraceable(life, row)) for row in there)

    def freed(self, plural: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> None:
        """An operator has changed an account or a Secret: a credential stays for those who need it to end what they have.

        Excused: an object whose status, with the record of what it has, somebody else wrote within the pass that frees it, or
        put back from a backup of before, which an operator may not have noticed. Forgiven: what could be known to nobody.
        """
        if before is None or not _frees(before, after):
            return
        meta = before["metadata"]
        for life in self._world.judge.books.standing():
            account = (life.spec.get("accountRef") or {}).get("name", "default")
            uses = (
                life.namespace == meta["namespace"] and {"gpucloudaccounts": account, "secrets": "key"}[plural] == meta["name"]
            )
            rewritten = self._world.loop.time() - life.tampered_at < LONGEST_PASS or self._world.judge.may_be_unnoticed(life)
            recorded = (life.status.get("order") or {}).get("state") in MAY_EXIST and not rewritten
            if uses and account == "default" and recorded and life.has_finalizer and not life.keeps() and self._is_known(life):
                self._world.judge.found("credential", f"{plural} {meta['name']!r} was let go, and {life.name} needs it")


def _frees(before: dict[str, Any], after: dict[str, Any] | None) -> bool:
    """Whether a finalizer of ours was taken away."""
    had, has = (set((item or {"metadata": {}})["metadata"].get("finalizers", ())) for item in (before, after))
    return any(item.startswith(FINALIZER.partition("/")[0]) for item in had - has)


def _billed(status: dict[str, Any], now: float) -> float:
    """For how many seconds a VM has been billed, as this status says."""
    since = status.get("billedSince")
    running = 0.0 if since is None else max(0.0, now - datetime.fromisoformat(since).timestamp())
    return float(status.get("billedSeconds") or 0) + running


def _listed_in(life: Life) -> tuple[str, str]:
    """The listing that shows what an object has: its kind and its cluster."""
    return life.kind, str((life.status.get("order") or {}).get("cluster")).casefold()
