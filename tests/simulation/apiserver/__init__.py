"""A kube-apiserver in memory: the semantics that the operator depends on, without sockets, clock or randomness."""

from simulation.apiserver.namespaces import NamespaceController
from simulation.apiserver.server import Answer, ApiServer
from simulation.apiserver.watching import Watch

__all__ = ["Answer", "ApiServer", "NamespaceController", "Watch"]
