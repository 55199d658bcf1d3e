"""The simulated cloud: every endpoint of the specification, with faults on demand, a ledger and a control API.

In process: ``httpx.AsyncClient(transport=SimTransport(Simulator()))``. As a server: ``gpucloud sim``. It shares no
code with ``gpucloud.cloud``, so that a misreading of the specification is not made twice.
"""

from gpucloud.sim.clock import Clock, LoopClock, ManualClock
from gpucloud.sim.config import Account, SimConfig
from gpucloud.sim.faults import Fault, FaultKind
from gpucloud.sim.knobs import Knobs
from gpucloud.sim.messages import Ending, Request, Response
from gpucloud.sim.simulator import Simulator

__all__ = [
    "Account",
    "Clock",
    "Ending",
    "Fault",
    "FaultKind",
    "Knobs",
    "LoopClock",
    "ManualClock",
    "Request",
    "Response",
    "SimConfig",
    "Simulator",
]
