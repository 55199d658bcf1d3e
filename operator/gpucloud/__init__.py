"""gpucloud: a Kubernetes operator for GPU clouds, the client of the cloud's API, and a simulator of that cloud.

The packages, from the top: ``app`` and ``cli`` start things; ``handlers`` know kopf; ``engine`` does all I/O; ``reconcile``
decides, purely; ``kinds`` models the custom resources; ``cloud`` is the API client; ``sim`` is the simulated cloud.
``docs/ARCHITECTURE.md`` is the map.
"""

__version__ = "0.1.0"
