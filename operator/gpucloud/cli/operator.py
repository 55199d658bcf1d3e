"""``gpucloud operator``: flags and environment in, the operator runs until a signal stops it."""

from __future__ import annotations

import argparse

from gpucloud import flags
from gpucloud.cli import variables
from gpucloud.cli.endings import MISUSED, refused
from gpucloud.settings import SettingsError

EPILOG = """\
The account: GPUCLOUD_API_KEY, or GPUCLOUD_USERNAME with GPUCLOUD_PASSWORD, or
the same with _FILE naming a file.
The cluster: KUBECONFIG, or the service account of the pod.
Exit code: 0 stopped by a signal, 1 it cannot start, or a restart is required
(the Lease was lost, or etcd was restored), 2 the settings cannot be used,
130 Ctrl-C before it had started.

examples:
  # Say what would be done, and do nothing
  export GPUCLOUD_API_KEY_FILE=~/gpucloud-api-key
  gpucloud operator --endpoint default=https://cloud.example --observe-only

  # Serve two namespaces, and refuse the eleventh VM of either
  gpucloud operator --endpoint default=https://cloud.example \\
    --namespace ml --namespace ci --max-vms-per-namespace 10

  # Keep the settings in a file
  gpucloud operator --config settings.yaml
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One flag a setting."""
    flags.add_arguments(parser)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.usage = "%(prog)s --endpoint NAME=URL [flags]"
    parser.epilog = EPILOG


def run(args: argparse.Namespace) -> int:
    """Run; exit code 2 when the settings are wrong, 1 when it cannot start."""
    try:
        chosen = flags.load(vars(args))
    except SettingsError as error:
        variables.warn("operator", flags.variables())
        return refused("operator", error, MISUSED)
    from gpucloud import app  # noqa: PLC0415 - kopf takes half a second to import; wrong flags should not

    return app.run(chosen, variables.of_operator(flags.variables()))
