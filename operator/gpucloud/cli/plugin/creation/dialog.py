"""The dialog of ``create``: asks the person at the terminal for what a new GpuVM lacks. A wrong answer is asked for again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin import show
from gpucloud.cli.plugin.creation import key_files, offer_rows, prompts, vm_manifest
from gpucloud.cli.plugin.errors import PluginError
from gpucloud.cli.plugin.model.naming import refusal
from gpucloud.cli.plugin.model.objects import VM
from gpucloud.cli.terminal.page import Line, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpucloud.cli.plugin.creation.vm_manifest import Known
    from gpucloud.cli.plugin.usage.commands import NewVm

KEY_FILE = "File of your public SSH key, such as ~/.ssh/id_ed25519.pub"


def place(wanted: NewVm, known: Known) -> NewVm:
    """Configuration and cluster, where they are missing."""
    if not wanted.configuration:
        wanted = _offer(wanted, known)
    if wanted.cluster:
        return wanted
    places = vm_manifest.places_of(wanted.configuration, known)
    if len(places) > 1:
        shown = table(("", "CLUSTER"), [[str(number), name] for number, name in enumerate(places, 1)])
        return replace(wanted, cluster=places[prompts.choose("Which cluster", shown, places)])
    return wanted if places else replace(wanted, cluster=prompts.ask("Cluster"))


def rest(wanted: NewVm, known: Known) -> NewVm:
    """VPC, SSH keys and name, where they are missing, or the VPC is unknown in a cluster that was chosen just now."""
    wrong = _wrong_vpc(wanted, known)
    if wrong:
        show.tell(wrong)
        wanted = replace(wanted, vpc="")
    if not wanted.vpc and not wanted.vpc_ref:
        wanted = _vpc(wanted, known)
    if not wanted.ssh_keys:
        wanted = replace(wanted, ssh_keys=_keys())
    if not wanted.name:
        wanted = replace(wanted, name=prompts.ask("Name of the GpuVM", refusal=lambda name: refusal(name, VM)))
    return wanted


def is_confirmed(wanted: NewVm, known: Known) -> bool:
    """Whether to create it now; its manifest is printed otherwise."""
    show.tell(f"GpuVM/{wanted.name}: {wanted.configuration} in {wanted.cluster}. {vm_manifest.price(wanted, known)}")
    return prompts.confirm("Create it now? With n its manifest is printed")


def _offer(wanted: NewVm, known: Known) -> NewVm:
    rows = [row for row in known.rows or () if row["cluster"] and row["available"] is not False]
    rows = [row for row in rows if wanted.cluster in {"", row["cluster"]} and wanted.pool in {"", row["resourcePool"]}]
    if not rows:
        question, wrong = "Configuration, such as A100_40GB_PCIe_1x", _unknown(wanted, known)
        return vm_manifest.with_known_names(replace(wanted, configuration=prompts.ask(question, refusal=wrong)), known)
    number = prompts.choose("Which one", _offers(rows), [str(number) for number in range(1, len(rows) + 1)])
    row = rows[number]
    return replace(wanted, configuration=row["configuration"], cluster=row["cluster"], pool=row["resourcePool"] or "")


def _unknown(wanted: NewVm, known: Known) -> Callable[[str], str]:
    """A function that says what is wrong with the name of a configuration."""

    def refused(name: str) -> str:
        try:
            vm_manifest.with_known_names(replace(wanted, configuration=name), known)
        except PluginError as error:
            return str(error)
        return ""

    return refused


def _offers(rows: list[Any]) -> Iterator[Line]:
    head = ("", "CONFIGURATION", "GPU", "GPUS", "PRICE/H", "CLUSTER", "POOL", "FREE")
    names = ("configuration", "gpu", "gpus", "pricePerHour", "cluster", "resourcePool")
    cells = [[*("" if row[name] is None else str(row[name]) for name in names), offer_rows.free(row)] for row in rows]
    yield from table(head, [[str(number), *row] for number, row in enumerate(cells, 1)])


def _vpc(wanted: NewVm, known: Known) -> NewVm:
    there = known.vpcs_in(wanted.cluster)
    if not there:
        usual = known.tenant if not known.in_cloud or known.tenant in known.in_cloud else ""
        name = prompts.ask("Name of the VPC in the cloud", usual, _unknown_vpc(wanted, known))
        return vm_manifest.with_known_vpc(replace(wanted, vpc=name), known)
    shown = table(("", "GPUVPC"), [[str(number), name] for number, name in enumerate(there, 1)])
    return replace(wanted, vpc_ref=there[prompts.choose("Which VPC", shown, there)])


def _unknown_vpc(wanted: NewVm, known: Known) -> Callable[[str], str]:
    """A function that refuses a VPC that the cloud does not list.

    Where the cloud's are not known, it questions one that nothing here names, until it is typed again.
    """
    questioned = set[str]()

    def refused(name: str) -> str:
        if known.in_cloud:
            return _wrong_vpc(replace(wanted, vpc=name), known)
        wrong = "" if name in questioned else vm_manifest.unknown_vpc(name, known)
        questioned.add(name)
        return wrong

    return refused


def _wrong_vpc(wanted: NewVm, known: Known) -> str:
    """What is wrong with a VPC that the cloud does not list; nothing where it does, or its list is not known."""
    try:
        vm_manifest.with_known_vpc(wanted, known)
    except PluginError as error:
        return str(error).removeprefix("--vpc: ")
    return ""


def _keys() -> tuple[str, ...]:
    """The keys of the usual file; of one that the person names, where that one is missing or wrong."""
    usual = key_files.usual()
    wrong = key_files.refusal(usual[0]) if usual else ""
    if wrong:
        show.tell(wrong)
    return key_files.keys(usual if usual and not wrong else (prompts.ask(KEY_FILE, refusal=key_files.refusal),))
