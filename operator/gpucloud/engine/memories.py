"""What this process remembers of each object: its calls, and whose the intents are. Lost in a crash; decisions allow for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.reconcile.facts import CREATES, Asked, Attempt, Memory, Refusal, Verb

if TYPE_CHECKING:
    from gpucloud.engine.clock import Clock

POWER = frozenset({Verb.START, Verb.STOP})


class Memories:
    """One ``Memory`` an object, from its first view until it is gone."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._memories: dict[str, Memory] = {}

    def of(self, uid: str) -> Memory:
        """What is remembered; a new object is first seen now."""
        if uid not in self._memories:
            self._memories[uid] = Memory(first_seen=self._clock.mono())
        return self._memories[uid]

    def forget(self, uid: str) -> None:
        """The object is gone."""
        self._memories.pop(uid, None)

    def saw_id(self, uid: str, cloud_id: str) -> None:
        """It was seen under this id of the cloud's, and was created for this object."""
        memory = self.of(uid)
        if cloud_id not in memory.seen_ids:
            self._memories[uid] = replace(memory, seen_ids=memory.seen_ids | {cloud_id})

    def saw_new(self, uid: str) -> None:
        """The object has no finalizer of ours yet, and nothing is recorded for it: nothing can have been sent."""
        self._memories[uid] = replace(self.of(uid), seen_new=True)

    def intends(self, uid: str, intent_id: str, at: float) -> None:
        """An intent of ours is about to be written; once it stands, it may be acted on while it is young."""
        memory = self.of(uid)
        self._memories[uid] = replace(
            memory, intent_id=intent_id, intent_ids=memory.intent_ids | {intent_id}, intent_recorded=at
        )

    def saw(self, uid: str, intent_id: str) -> None:
        """This intent stands. If we did not write it, whoever did may have acted on it, at the latest just now."""
        memory = self.of(uid)
        if intent_id not in memory.intent_ids | {memory.stranger_id}:
            self._memories[uid] = replace(memory, stranger_id=intent_id, stranger_seen=self._clock.mono(), unclear=True)

    def called(self, uid: str, verb: Verb, asked: Asked, refusal: Refusal | None) -> None:
        """A call was sent, and this is how it went."""
        memory = self.of(uid)
        before = memory.attempts.get(verb)
        failures = 0 if refusal is None else 1 + (before.failures if before is not None else 0)
        attempt = Attempt(verb, self._clock.mono(), asked, refusal, failures)
        may_be_there = verb in CREATES and (refusal is None or refusal.ambiguous)
        self._memories[uid] = replace(
            memory, attempts={**memory.attempts, verb: attempt}, unclear=memory.unclear or may_be_there
        )

    def frees(self, uid: str) -> None:
        """It is about to be let go by us: its end is nobody else's doing."""
        self._memories[uid] = replace(self.of(uid), freed=True)

    def settled(self, uid: str) -> None:
        """What was asked for is there: how the power calls towards it went says nothing about the next."""
        memory = self.of(uid)
        if POWER & memory.attempts.keys():
            kept = {verb: memory.attempts[verb] for verb in memory.attempts if verb not in POWER}
            self._memories[uid] = replace(memory, attempts=kept)
