"""``gpucloud uninstall``: the guard before the operator is removed. The chart runs it before ``helm uninstall``.

Without the operator, VMs run on and are billed, and neither our objects nor their namespaces can be deleted. So it
refuses while any object lives, or deletes all of them first. It knows flags, words and exit codes.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, get_args

from gpucloud import flags, website
from gpucloud.cli.administration import carry_out
from gpucloud.cli.endings import FAILED, MISUSED, refused
from gpucloud.cloud.errors import one_line
from gpucloud.settings import SettingsError, UninstallSettings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from gpucloud.cli.operations.uninstall import Left

POLICIES = get_args(UninstallSettings.model_fields["uninstall_policy"].annotation)  # the first is the default
CLEAR = 0
MOST_LINES = 20
ADVICE = """\
Choose one:
  - delete them yourself, and wait until they are gone: kubectl delete gpucloud --all --namespace NAMESPACE
  - let the uninstall destroy what they stand for: set uninstall.policy=Drain. What was adopted, and what its own
    deletion.policy retains, stay in the cloud all the same; it names them first
  - let it delete the objects and leave the VMs in the cloud, running and billed: set uninstall.policy=Retain
  - move the operator elsewhere, with its objects: helm uninstall RELEASE --no-hooks, and install it again at once
Then run helm uninstall again."""
STUCK = """\
The operator goes on with them; nothing was uninstalled. See what the messages ask for, and that the operator runs, then
run helm uninstall again. Where it waits longer, Helm must, too: helm uninstall RELEASE --timeout …."""
# The guard is stored with the release: only an upgrade changes it, which Helm refuses until the release is rolled back.
SET_NOW = f"""\
To set {{value}} now: helm rollback RELEASE REVISION (the last that helm history shows: Helm calls it "uninstalling"), then
helm upgrade RELEASE CHART --reset-then-reuse-values --set {{value}}=….
{website.INSTALL} says more."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to do with objects that live, for how long, and where."""
    flags.add_arguments(parser, known=flags.UNINSTALL)
    parser.epilog = (
        "In the settings file, the policy is uninstallPolicy, and the time uninstallTimeoutSeconds. "
        f"The cluster: KUBECONFIG, or the service account of the pod. Exit code: {CLEAR} no object of the operator is "
        f"left, {FAILED} some are, or they could not be listed, {MISUSED} wrong usage."
    )


def run(args: argparse.Namespace) -> int:
    """Look, delete objects if asked to, and say what is left."""
    unlisted = "the objects that are left cannot be listed: "
    return carry_out("uninstall", lambda: flags.load_uninstall(vars(args)), _clear, undone=unlisted)


def _clear(chosen: UninstallSettings) -> int:
    from gpucloud.engine.kube.errors import KubeError  # noqa: PLC0415 - kopf takes half a second to import

    try:
        left = asyncio.run(_left(chosen))
    except KubeError as error:  # it says what could not be done
        return refused("uninstall", error, FAILED)
    return report(left, chosen.uninstall_policy, _place(chosen.namespace))


def _place(namespaces: Sequence[str]) -> str:
    """Where it was looked."""
    from gpucloud.handlers.login import server  # noqa: PLC0415 - as above

    which = f"namespace {', '.join(namespaces)}" if namespaces else "any namespace"
    return f"{which} of the cluster at {server()}"


async def _left(chosen: UninstallSettings) -> tuple[Left, ...]:
    from gpucloud.cli.operations.uninstall import Policy, Uninstall, UninstallClient  # noqa: PLC0415
    from gpucloud.engine.runtime.clock import SystemClock  # noqa: PLC0415
    from gpucloud.handlers.login import connect, server  # noqa: PLC0415

    kube = UninstallClient(connect)
    uninstall = Uninstall(kube, chosen.namespace, SystemClock())
    try:
        for name in await uninstall.missing_namespaces():
            raise SettingsError(
                f"--namespace: there is no namespace {name!r} in the cluster at {server()}; correct the name or the kubeconfig"
            )
        policy = Policy(chosen.uninstall_policy)
        if policy == Policy.REFUSE:
            return await uninstall.left()
        return await uninstall.clear(policy, chosen.uninstall_timeout_seconds, lambda text: print(text, flush=True))
    finally:
        await kube.aclose()


def report(left: Sequence[Left], policy: str, place: str) -> int:
    """Say what is left, and what to do; answers the exit code. ``place``: where it was looked."""
    if not left:
        print(f"Nothing of ours lives in {place}: the operator can go.")
        return CLEAR
    asked = policy != POLICIES[0]
    head = f"{len(left)} object{'s' if len(left) > 1 else ''} of gpucloud.dev still live{'' if len(left) > 1 else 's'}"
    why = "the time is over" if asked else "nothing is uninstalled: without the operator their VMs run on and are billed"
    lines = [f"{head}, and {why}."]
    for item in left[:MOST_LINES]:
        told = f": {one_line(item.message)}" if asked and item.message else ""
        lines.append(f"  {item.kind} {item.namespace}/{item.name} {item.reason}{told}".rstrip())
    if len(left) > MOST_LINES:
        lines.append(f"  … and {len(left) - MOST_LINES} more: kubectl get gpucloud --all-namespaces")
    advice = (STUCK, "uninstall.timeoutSeconds") if asked else (ADVICE, "uninstall.policy")
    print("\n".join([*lines, advice[0], SET_NOW.format(value=advice[1])]), file=sys.stderr)
    return FAILED
