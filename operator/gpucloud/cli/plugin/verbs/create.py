"""``create``: a GpuVM from the offers. Prints its manifest, or creates it; on a terminal it asks for what is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gpucloud.cli.plugin import creating, offering, prompting, show
from gpucloud.cli.plugin.creating import Known, Wanted
from gpucloud.cli.plugin.errors import ExitCode, PluginError, TransientError
from gpucloud.cli.plugin.naming import refusal
from gpucloud.cli.plugin.objects import SNAPSHOT, VM, VPC, Key, target
from gpucloud.cli.plugin.page import Line, table
from gpucloud.cli.plugin.show import Output
from gpucloud.cli.plugin.verbs.shared import cluster, reader
from gpucloud.cli.plugin.verdicts import Aim, Goal
from gpucloud.cli.plugin.waiting import wait
from gpucloud.kinds.meta import API_VERSION
from gpucloud.kinds.names import DEFAULT_ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.commands import NewVm
    from gpucloud.cli.plugin.kube.access import At
    from gpucloud.cli.plugin.objects import Thing
    from gpucloud.cli.plugin.options import CloudOptions
    from gpucloud.cli.plugin.sources import Source

KEY_FILES = ("id_ed25519.pub", "id_ecdsa.pub", "id_rsa.pub")  # in the order in which ssh offers them, the safest first


def create(at: At, *, vm: NewVm, cloud: CloudOptions, apply: bool, wait_for_it: bool, timeout: float) -> int:
    """Print the manifest of a new GpuVM, or create it."""
    here, wanted = cluster(at), _wanted(vm)
    asks = prompting.is_possible() and not (wanted.name and wanted.configuration)
    if wait_for_it and not apply and not asks:
        what = "--wait needs --apply: without it the manifest is printed and nothing is created."
        raise PluginError(what, ExitCode.MISUSED, do="Add --apply, or leave --wait out.")
    (creating.check_combination if asks else creating.check_complete)(wanted)  # before the calls, which take seconds
    account, why = _account(here, cloud.account)
    known = _known(here, account, why, cloud)
    wanted = replace(wanted, account=_shown(account))
    wanted = creating.settled(_asked(wanted, known) if asks else wanted, known)
    if wanted.snapshot:
        known = replace(known, snapshots=_things(here, SNAPSHOT))
    for note in creating.notes(wanted, known):
        show.tell(note)
    if not apply and not (asks and _confirmed(wanted, known)):
        show.document(creating.manifest(wanted, at.namespace), Output.YAML)
        return ExitCode.OK
    made = here.create(Key(here.namespace, VM, wanted.name), creating.spec(wanted))
    print(f"{made.key}: created")
    if not wait_for_it:
        return ExitCode.OK
    return wait(reader(here, (made.key,)), Aim(Goal.READY, {made.key: made.uid}), timeout)


def _shown(account: Thing | None) -> str:
    """The account as the manifest names it: the default one is used without a name."""
    return account.key.name if account is not None and account.key.name != DEFAULT_ACCOUNT else ""


def _wanted(vm: NewVm) -> Wanted:
    """The VM that the options describe, with the keys that their files hold."""
    return Wanted(
        name=creating.checked_name(target(vm.name)[1], VM) if vm.name else "",
        configuration=vm.configuration,
        cluster=vm.in_cluster,
        pool=vm.pool,
        vpc=vm.vpc,
        vpc_ref=vm.vpc_ref,
        ssh_keys=_keys(vm.ssh_key),
        image=vm.image,
        snapshot=vm.snapshot,
        disk=vm.disk,
    )


def _account(here: Cluster, wanted: str | None) -> tuple[Thing | None, PluginError | None]:
    """The account to ask through, or why none can be seen: whoever may create GpuVMs need not see accounts."""
    from gpucloud.cli.plugin.sources import account_of  # noqa: PLC0415 - it loads the cloud's client: not for what is refused before

    try:
        return account_of(here, wanted), None
    except PluginError as error:
        if wanted is not None or error.code is ExitCode.MISUSED:
            raise
        return None, error


def source_of(here: Cluster, account: Thing | None, cloud: CloudOptions) -> Source:
    """Who answers questions about the cloud."""
    from gpucloud.cli.plugin.verbs import cloud as verbs  # noqa: PLC0415 - as above

    return verbs.source_of(here, account, cloud)


def _known(here: Cluster, account: Thing | None, why: PluginError | None, cloud: CloudOptions) -> Known:
    vpcs, vms = _things(here, VPC) or (), _things(here, VM) or ()
    tenant = "" if account is None else account.text("tenant")
    try:
        if why is not None:
            raise why
        rows = offering.offered(source_of(here, account, cloud).offers(""))
    except PluginError as error:
        rows = _published(here, account)
        instead = "are compared with the GpuOffers of the namespace" if rows else "are not checked"
        show.tell(f"configuration and cluster {instead}, since the cloud's own offers cannot be seen: {error}")
    return Known(tuple(rows) or None, vpcs, tenant, vms=vms)


def _published(here: Cluster, account: Thing | None) -> list[dict[str, Any]]:
    """What the operator has published for the account; nothing where that may not be seen."""
    path = f"/apis/{API_VERSION}/namespaces/{quote(here.namespace, safe='')}/gpuoffers"
    name = DEFAULT_ACCOUNT if account is None else account.key.name
    try:
        return offering.published(here.listed("gpuoffers", path) or (), name)
    except TransientError:
        return []


def _things(here: Cluster, kind: str) -> tuple[Thing, ...] | None:
    """The objects of the namespace; None where they may not be listed, since `create` does not need that right."""
    try:
        return here.things(here.namespace, (kind,))
    except PluginError:
        return None


def _keys(files: tuple[str, ...]) -> tuple[str, ...]:
    """The keys of these files, else of the first usual one that is there."""
    usual = next(((str(path),) for path in (Path.home() / ".ssh" / name for name in KEY_FILES) if path.is_file()), ())
    return tuple(key for file in files or usual for key in creating.public_keys(_read(file), file))


def _read(file: str) -> str:
    try:
        return Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PluginError(
            f"--ssh-key: {file} cannot be read ({reason}).", ExitCode.MISUSED, do="Name the file of a public key."
        ) from None


def _asked(wanted: Wanted, known: Known) -> Wanted:
    """What is missing, from the person at the terminal."""
    if not wanted.configuration:
        wanted = _asked_offer(wanted, known)
    if not wanted.cluster and known.rows is None:
        wanted = replace(wanted, cluster=prompting.ask("Cluster"))
    if not wanted.vpc and not wanted.vpc_ref:
        wanted = _asked_vpc(wanted, known)
    if not wanted.ssh_keys:
        wanted = replace(wanted, ssh_keys=_keys((prompting.ask("File of your public SSH key, such as ~/.ssh/id_ed25519.pub"),)))
    if not wanted.name:
        wanted = replace(wanted, name=prompting.ask("Name of the GpuVM", refusal=lambda name: refusal(name, VM)))
    return wanted


def _asked_offer(wanted: Wanted, known: Known) -> Wanted:
    rows = [row for row in known.rows or () if row["cluster"] and row["available"] is not False]
    rows = [row for row in rows if wanted.cluster.casefold() in {"", str(row["cluster"]).casefold()}]
    if not rows:
        return replace(wanted, configuration=prompting.ask("Configuration, such as A100_40GB_PCIe_1x"))
    place = prompting.choose("Which one", _offers(rows), [str(number) for number in range(1, len(rows) + 1)])
    row = rows[place]
    return replace(wanted, configuration=row["configuration"], cluster=row["cluster"], pool=row["resourcePool"] or "")


def _offers(rows: list[Any]) -> Iterator[Line]:
    head = ("", "CONFIGURATION", "GPU", "GPUS", "PRICE/H", "CLUSTER", "POOL", "FREE")
    names = ("configuration", "gpu", "gpus", "pricePerHour", "cluster", "resourcePool")
    cells = [[*("" if row[name] is None else str(row[name]) for name in names), offering.free(row)] for row in rows]
    yield from table(head, [[str(number), *row] for number, row in enumerate(cells, 1)])


def _asked_vpc(wanted: Wanted, known: Known) -> Wanted:
    there = known.vpcs_in(wanted.cluster)
    if not there:
        return replace(wanted, vpc=prompting.ask("Name of the VPC in the cloud", known.tenant, _twice(known)))
    place = prompting.choose("Which VPC", table(("", "GPUVPC"), [[str(n), name] for n, name in enumerate(there, 1)]), there)
    return replace(wanted, vpc_ref=there[place])


def _twice(known: Known) -> Callable[[str], str]:
    """A function that questions the name of a VPC that nothing here names, until it is typed again."""
    questioned = set[str]()

    def refusal(name: str) -> str:
        wrong = "" if name in questioned else creating.unknown_vpc(name, known)
        questioned.add(name)
        return wrong

    return refusal


def _confirmed(wanted: Wanted, known: Known) -> bool:
    """Whether to create it now; its manifest is printed otherwise."""
    row = creating.row_of(wanted, known)
    price = f" It is billed ${row['pricePerHour']} an hour." if row is not None and row["pricePerHour"] else ""
    show.tell(f"GpuVM/{wanted.name}: {wanted.configuration} in {wanted.cluster}.{price}")
    return prompting.confirm("Create it now? With n its manifest is printed")
