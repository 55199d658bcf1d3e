"""What the commands for administrators have in common: their settings first, then their work, which needs a cluster.

It knows no command. Nothing that is slow to import is imported before the settings are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from gpucloud import flags
from gpucloud.cli import variables
from gpucloud.cli.endings import FAILED, MISUSED, refused
from gpucloud.settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.settings import Value

S = TypeVar("S", bound="Value")


def carry_out(command: str, read: Callable[[], S], work: Callable[[S], int], *, undone: str = "") -> int:
    """Do the ``work`` of a command by the settings that ``read`` returns, and answer the exit code.

    ``undone``: what could not be done where there is no cluster, to stand before the reason.
    """
    variables.warn(command, flags.variables())
    try:
        return work(read())
    except SettingsError as error:
        return refused(command, error, MISUSED)
    except _without_cluster() as error:
        return refused(command, f"{undone}{error}", FAILED)


def _without_cluster() -> tuple[type[Exception], ...]:
    """What is raised where there is no cluster, or no file that names one."""
    from gpucloud.handlers.login import NoCluster  # noqa: PLC0415 - it imports kopf, which takes half a second

    return NoCluster, OSError
