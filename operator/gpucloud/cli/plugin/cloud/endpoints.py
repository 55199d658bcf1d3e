"""Where the user says that the cloud is: by ``--endpoint``, else GPUCLOUD_ENDPOINT. It can be read before anybody is asked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from gpucloud.cli import variables
from gpucloud.cli.plugin.errors import ExitCode, PluginError

if TYPE_CHECKING:
    from gpucloud.settings import Settings


def settings(endpoints: tuple[str, ...]) -> Settings | None:
    """Read them by the operator's own rules for its own flags; the cloud's credentials in the environment are not looked at.

    None: no endpoint is named.

    Raises:
        PluginError: one of them is none.
    """
    environ = {name: value for name, value in os.environ.items() if name in variables.OF_CLOUD}
    given: dict[str, Any] = {"endpoint": list(endpoints) or None}
    if not endpoints and not environ.get(variables.ENDPOINT):
        return None
    from gpucloud import flags  # noqa: PLC0415 - pydantic-settings takes a tenth of a second to import; few verbs need it
    from gpucloud.settings import SettingsError  # noqa: PLC0415 - as above

    try:
        return flags.load(given, environ)
    except SettingsError as error:
        raise PluginError(f"{error}.", ExitCode.MISUSED, do="Correct --endpoint or GPUCLOUD_ENDPOINT.") from None
