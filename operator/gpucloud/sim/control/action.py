"""What a control action is: a method, a path under ``/_sim/``, its parameters, and the function that does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.sim.state import State


class Args(BaseModel):
    """Parameters of an action, from the query, the JSON body and the path; unknown ones are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True)
class Action:
    """One action. A path may end in ``{id}``. ``name`` is its id in the OpenAPI document, by which clients name a function.

    ``known`` says which names there are, or where they are listed; it ends the refusal of a name that is unknown.
    """

    method: str
    path: str
    name: str
    summary: str
    args: type[BaseModel]
    act: Callable[[State, Any], Any]
    known: Callable[[State], str] | None = None
