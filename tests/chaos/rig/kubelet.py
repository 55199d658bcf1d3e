"""What restarts an operator that has ended by itself, as a kubelet does: at once, then later and later."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from chaos.rig.trial import Trial

FIRST_BACKOFF, LONGEST_BACKOFF = 10.0, 300.0  # CrashLoopBackOff, from the second restart on
_LOOK_SECONDS = 0.2


class Kubelet:
    """Use it as a context round the part of a trial in which the operator may end by itself.

    Attributes:
        exits: the exit codes so far.
    """

    def __init__(self, trial: Trial) -> None:
        self.exits: list[int] = []
        self._trial = trial
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kubelet", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        backoff = 0.0
        while not self._over.wait(_LOOK_SECONDS):
            code = self._trial.operator.process.exit_code
            if code is None:
                continue
            self.exits.append(code)
            if self._over.wait(backoff):
                return
            self._trial.start()
            backoff = min(max(FIRST_BACKOFF, 2 * backoff), LONGEST_BACKOFF)
