"""A Helm of the pinned major version for tests, on any machine: from PATH, from the user cache, or built from source.

It must not know charts; it hands out a program. The official archive is no way to it, unlike that of a control plane: its
checksum would have to be pinned here, and we have none that we could vouch for.
"""

from helmcli.obtain import obtain_helm
from helmcli.program import Helm

__all__ = ["Helm", "obtain_helm"]
