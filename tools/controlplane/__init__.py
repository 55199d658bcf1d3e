"""A real Kubernetes control plane for tests and the demo: obtained, started on loopback, gone without a trace.

It must not know the operator, its kinds or the simulated cloud; it offers an apiserver and credentials for it.
"""

from controlplane.errors import ControlPlaneError
from controlplane.plane import ControlPlane

__all__ = ["ControlPlane", "ControlPlaneError"]
