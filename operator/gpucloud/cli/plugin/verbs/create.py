"""``create``: a GpuVM from the offers. Prints its manifest, or creates it; on a terminal it asks for what is missing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin import show
from gpucloud.cli.plugin.cluster import writing
from gpucloud.cli.plugin.creation import dialog, key_files, offer_rows, prompts, vm_manifest
from gpucloud.cli.plugin.creation.vm_manifest import Known
from gpucloud.cli.plugin.errors import ExitCode, PluginError, TransientError
from gpucloud.cli.plugin.model.objects import SNAPSHOT, VM, VPC, Key, target
from gpucloud.cli.plugin.model.verdicts import Aim, Goal
from gpucloud.cli.plugin.targets import cluster
from gpucloud.cli.plugin.usage.cloud_commands import OFFERS
from gpucloud.cli.plugin.waiting import patience
from gpucloud.cli.plugin.waiting.waits import reader, wait
from gpucloud.cli.terminal import printing
from gpucloud.cli.terminal.printing import Output
from gpucloud.kinds.names import DEFAULT_ACCOUNT

if TYPE_CHECKING:
    from gpucloud.cli.plugin.cloud.sources import Source
    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.kube.access import At
    from gpucloud.cli.plugin.model.objects import Thing
    from gpucloud.cli.plugin.usage.commands import NewVm
    from gpucloud.cli.plugin.usage.options import CloudOptions


def create(at: At, *, vm: NewVm, cloud: CloudOptions, apply: bool, wait_for_it: bool, timeout: float) -> int:
    """Print the manifest of a new GpuVM, or create it."""
    here, wanted = cluster(at), _named(vm)
    asks = prompts.is_possible() and not (wanted.name and wanted.configuration)
    if wait_for_it and not apply and not asks:
        what = "--wait needs --apply: without it the manifest is printed and nothing is created."
        raise PluginError(what, ExitCode.MISUSED, do="Add --apply, or leave --wait out.")
    if asks:  # before the calls, which take seconds
        vm_manifest.check_combination(wanted)
    else:
        vm_manifest.check_complete(wanted, *_others(wanted, apply=apply, wait_for_it=wait_for_it))
    if asks:
        patience.say(OFFERS)
    account, source = _ways(here, cloud)
    known = _known(here, account, source)
    wanted = vm_manifest.with_known_names(replace(wanted, account=_shown(account)), known)
    wanted, known = (_asked if asks else _completed)(wanted, known, source)
    patience.over()
    if wanted.snapshot:
        known = replace(known, snapshots=_things(here, SNAPSHOT))
    for note in vm_manifest.notes(wanted, known):
        show.tell(note)
    if not apply and not (asks and dialog.is_confirmed(wanted, known)):
        printing.document(vm_manifest.manifest(wanted, at.namespace), Output.YAML)
        return ExitCode.OK
    made, is_new = writing.create(here, Key(here.namespace, VM, wanted.name), vm_manifest.spec(wanted))
    print(f"{made.key}: {'created' if is_new else 'exists already, just as it was asked for'}")
    if not wait_for_it:
        return ExitCode.OK
    return wait(reader(here, (made.key,)), Aim(Goal.READY, {made.key: made.uid}), timeout)


def _others(wanted: NewVm, *, apply: bool, wait_for_it: bool) -> list[str]:
    """Further words of the command, as they were typed; with a place for a key, where none is found."""
    key = [] if wanted.key_files or key_files.usual() else ["--ssh-key", "FILE"]
    return [*key, *(["--apply"] if apply else []), *(["--wait"] if wait_for_it else [])]


def _shown(account: Thing | None) -> str:
    """The account as the manifest names it: the default one is used without a name."""
    return account.key.name if account is not None and account.key.name != DEFAULT_ACCOUNT else ""


def _named(vm: NewVm) -> NewVm:
    """The same, with the name alone where a kind was typed before it."""
    return replace(vm, name=vm_manifest.checked_name(target(vm.name)[1], VM)) if vm.name else vm


def _completed(wanted: NewVm, known: Known, source: Source | PluginError) -> tuple[NewVm, Known]:
    """What follows from what is known, with the keys."""
    wanted = vm_manifest.placed(wanted, known)
    if wanted.vpc:
        known = _with_vpcs(wanted, known, source)
    wanted = vm_manifest.settled(wanted, known)
    wanted = replace(wanted, ssh_keys=key_files.keys(wanted.key_files or key_files.usual()))
    vm_manifest.check_keys(wanted)
    return wanted, known


def _asked(wanted: NewVm, known: Known, source: Source | PluginError) -> tuple[NewVm, Known]:
    """The same, with what is missing from the person at the terminal. What the options name is looked at before."""
    has_cluster = bool(wanted.cluster)
    if has_cluster:
        known = _with_vpcs(wanted, known, source)
        wanted = vm_manifest.with_known_vpc(wanted, known)
    wanted = replace(wanted, ssh_keys=key_files.keys(wanted.key_files))
    wanted = vm_manifest.placed(dialog.place(wanted, known), known)
    if not has_cluster:
        known = _with_vpcs(wanted, known, source)
    return vm_manifest.settled(dialog.rest(wanted, known), known), known


def _with_vpcs(wanted: NewVm, known: Known, source: Source | PluginError) -> Known:
    """The same, with the VPCs of the cloud in the chosen cluster, where the VM's VPC is not a GpuVpc.

    They stay unknown where they cannot be listed: a user's role may allow VMs and no VPCs.
    """
    if isinstance(source, PluginError) or wanted.vpc_ref or (not wanted.vpc and known.vpcs_in(wanted.cluster)):
        return known
    try:
        return replace(known, in_cloud=source.vpcs(wanted.cluster))
    except PluginError:
        return known


def _ways(here: Cluster, cloud: CloudOptions) -> tuple[Thing | None, Source | PluginError]:
    """The account, and who answers questions about the cloud, or why nobody does."""
    account, why = _account(here, cloud.account)
    if why is not None:
        return None, why
    try:
        return account, source_of(here, account, cloud)
    except PluginError as error:
        return account, error


def _account(here: Cluster, wanted: str | None) -> tuple[Thing | None, PluginError | None]:
    """The account to ask through, or why none can be seen: whoever may create GpuVMs need not see accounts."""
    from gpucloud.cli.plugin.cloud.sources import account_of  # noqa: PLC0415 - it loads the cloud's client: not for what is refused before

    try:
        return account_of(here, wanted), None
    except PluginError as error:
        if wanted is not None or error.code is ExitCode.MISUSED:
            raise
        return None, error


def source_of(here: Cluster, account: Thing | None, cloud: CloudOptions) -> Source:
    """Who answers questions about the cloud."""
    from gpucloud.cli.plugin.cloud import source_of_verb  # noqa: PLC0415 - as above

    return source_of_verb.source_of(here, account, cloud)


def _known(here: Cluster, account: Thing | None, source: Source | PluginError) -> Known:
    vpcs, vms = _things(here, VPC) or (), _things(here, VM) or ()
    tenant = "" if account is None else account.text("tenant")
    rows = _offered(source)
    if isinstance(rows, PluginError):
        error, rows = rows, _published(here, account)
        instead = "are compared with the GpuOffers of the namespace" if rows else "are not checked"
        show.tell(f"configuration and cluster {instead}, since the cloud's own offers cannot be seen: {error}")
    return Known(tuple(rows) or None, vpcs, tenant, vms=vms)


def _offered(source: Source | PluginError) -> list[dict[str, Any]] | PluginError:
    """What the cloud offers, or why that cannot be seen."""
    if isinstance(source, PluginError):
        return source
    try:
        return offer_rows.offered(source.offers(""))
    except PluginError as error:
        return error


def _published(here: Cluster, account: Thing | None) -> list[dict[str, Any]]:
    """What the operator has published for the account; nothing where that may not be seen."""
    name = DEFAULT_ACCOUNT if account is None else account.key.name
    try:
        return offer_rows.published(here.offers(), name)
    except TransientError:
        return []


def _things(here: Cluster, kind: str) -> tuple[Thing, ...] | None:
    """The objects of the namespace; None where they may not be listed, since `create` does not need that right."""
    try:
        return here.things(here.namespace, (kind,))
    except PluginError:
        return None
