"""Methods of the clients, made from the functions of ``calls``: an operation is described once, there.

``awaited`` makes a method of an async client, ``blocking`` one of a sync client. Both take what the function takes. The two of
``wait_for`` are made likewise, of the one function of that name in ``waiting``.
"""

import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, get_args

from gpucloud.cloud.calls import Call
from gpucloud.cloud.waiting import Wait

P = ParamSpec("P")
T = TypeVar("T")


class Runs(Protocol):
    """An async client."""

    async def run(self, call: Call[T]) -> T:
        """Send a call."""
        ...


class RunsBlocking(Protocol):
    """A sync client."""

    def run(self, call: Call[T]) -> T:
        """Send a call, and return when its answer is there."""
        ...


def awaited(describe: Callable[P, Call[T]]) -> Callable[Concatenate[Runs, P], Coroutine[Any, Any, T]]:
    """Make the method of an async client that sends what ``describe`` describes."""

    async def method(self: Runs, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.run(describe(*args, **kwargs))

    return _described(method, describe)


def blocking(describe: Callable[P, Call[T]]) -> Callable[Concatenate[RunsBlocking, P], T]:
    """Make the method of a sync client that sends what ``describe`` describes."""

    def method(self: RunsBlocking, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.run(describe(*args, **kwargs))

    return _described(method, describe)


class Waits(Protocol):
    """An async client."""

    async def _wait(self, wait: Wait[T]) -> T:
        """Wait, and return the answer that was waited for."""
        ...


class WaitsBlocking(Protocol):
    """A sync client."""

    def _wait(self, wait: Wait[T]) -> T:
        """Wait, and return the answer that was waited for."""
        ...


def awaited_wait(describe: Callable[P, Wait[T]]) -> Callable[Concatenate[Waits, P], Coroutine[Any, Any, T]]:
    """Make the method of an async client that waits for what ``describe`` describes."""

    async def method(self: Waits, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._wait(describe(*args, **kwargs))

    return _described(method, describe)


def blocking_wait(describe: Callable[P, Wait[T]]) -> Callable[Concatenate[WaitsBlocking, P], T]:
    """Make the method of a sync client that waits for what ``describe`` describes."""

    def method(self: WaitsBlocking, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._wait(describe(*args, **kwargs))

    return _described(method, describe)


def answer_of(describe: Callable[..., Call[Any] | Wait[Any]]) -> Any:
    """Return the type of the answer to what ``describe`` describes."""
    return get_args(inspect.signature(describe).return_annotation)[0]


def _about(describe: Callable[..., Any]) -> str:
    """Return what an operation does, without the place in the specification that says so."""
    return inspect.cleandoc(describe.__doc__ or "").partition("Source:")[0].strip()


M = TypeVar("M", bound=Callable[..., Any])


def _described(method: M, describe: Callable[..., Call[Any] | Wait[Any]]) -> M:
    """Let ``help()`` and ``inspect`` show a method as it is called: with the answer, not with the call, as its result."""
    signature = inspect.signature(describe)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    shown = signature.replace(parameters=[own, *signature.parameters.values()], return_annotation=answer_of(describe))
    vars(method)["__signature__"] = shown
    method.__name__, method.__qualname__, method.__doc__ = describe.__name__, describe.__qualname__, _about(describe)
    return method
