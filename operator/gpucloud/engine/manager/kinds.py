"""The reconcilers and controllers that run, by kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpucloud.engine.controller.controller import Controller
    from gpucloud.engine.controller.reconciler import Reconciler
    from gpucloud.engine.kinds.reconciler import ObservedReconciler, OwnedReconciler


@dataclass(frozen=True, slots=True)
class Kinds:
    """Filled by ``wire`` alone. Its parts are made before it is complete, since each of them may wake an object of any kind."""

    reconcilers: dict[str, Reconciler[Any, Any, Any]] = field(default_factory=dict)  # of all kinds, accounts last
    observed: dict[str, ObservedReconciler[Any, Any, Any]] = field(default_factory=dict)  # of what listings show
    owned: dict[str, OwnedReconciler[Any, Any, Any]] = field(default_factory=dict)  # of what the operator creates and destroys
    controllers: dict[str, Controller[Any, Any, Any]] = field(default_factory=dict)
