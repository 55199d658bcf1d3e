"""What a service's operation is: its place in HTTP, its parameters and answer, and the function that does it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpucloud.sim.payloads import NoParameters, Payload

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.sim.knobs import Knobs
    from gpucloud.sim.world.identity import Caller
    from gpucloud.sim.world.world import World

READ_CODES = (400, 401, 403, 500)


@dataclass(frozen=True, slots=True)
class Call:
    """One call in its circumstances; ``now`` is seconds since 1970.

    ``as_of`` is set when a fault asks for old news: reads heed it, changes do not.
    """

    world: World
    caller: Caller
    now: float
    new_secret: Callable[[], str]
    as_of: float | None = None

    @property
    def knobs(self) -> Knobs:
        """The knobs in force."""
        return self.world.rules.knobs

    @property
    def tenant(self) -> str:
        """The caller's tenant, beyond which nothing is visible."""
        return self.caller.user.tenant


@dataclass(frozen=True, slots=True)
class Reply:
    """What an operation answers. ``changed`` is False when the world stayed as it was."""

    data: Any = field(repr=False)
    changed: bool = True
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """One operation of the specification. ``permission`` None: no credential is needed."""

    operation: str
    method: str
    path: str
    summary: str
    handler: Callable[[Call, Any], Reply]
    record: Any
    permission: str | None
    query: type[Payload] = NoParameters
    body: type[Payload] | None = None
    success: int = 200
    error_codes: tuple[int, ...] = READ_CODES
    mutates: bool = False

    @property
    def tag(self) -> str:
        """The group in the OpenAPI document: the path's part before the operation."""
        return self.path.rsplit("/", 2)[1]
