"""A new GpuVM: from what was asked for and what is known to a manifest. Pure."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.model import naming
from gpucloud.cli.plugin.model.objects import SNAPSHOT, VM, VPC, Thing
from gpucloud.cli.terminal.marks import paste
from gpucloud.kinds.meta import API_VERSION
from gpucloud.reconcile.commands import AFTER_COMMAND
from gpucloud.spelling import nearest, question, use_one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gpucloud.cli.plugin.usage.commands import NewVm

    Row = Mapping[str, Any]

OFFERS = f"See what can be bought: {paste('kubectl gpucloud offers')}"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the cloud and the namespace."""

    rows: tuple[Row, ...] | None  # of offers; None when they cannot be seen
    vpcs: tuple[Thing, ...] = ()
    tenant: str = ""
    snapshots: tuple[Thing, ...] | None = None  # GpuSnapshots; None when they were not looked at, or may not be seen
    vms: tuple[Thing, ...] = ()
    in_cloud: frozenset[str] | None = None  # all VPCs of the chosen cluster; None when they were not looked at, or are unknown

    def vpc_names(self) -> tuple[str, ...]:
        """The VPCs that objects of the namespace name, as the cloud has them; there may be more."""
        named = [self.tenant, *(item.spec.get("name") for item in self.vpcs), *(item.spec.get("vpc") for item in self.vms)]
        return tuple(sorted({str(name) for name in named if name}))

    def images(self) -> tuple[str, ...]:
        """The operating systems that GpuVMs of the namespace name; there may be more."""
        images = [item.spec.get("image") for item in self.vms]
        named = [one.get("operatingSystem") for one in images if isinstance(one, dict)]
        return tuple(sorted({str(name) for name in named if name}))

    def vpcs_in(self, cluster: str) -> tuple[str, ...]:
        """The names of the GpuVpcs in a cluster."""
        return tuple(item.key.name for item in self.vpcs if str(item.spec.get("cluster", "")).casefold() == cluster.casefold())


def checked_name(name: str, kind: str) -> str:
    """The same name.

    Raises:
        PluginError: no object of this kind can have it.
    """
    if naming.is_too_long(name):
        raise _wrong(naming.too_long(name, kind), naming.SHORTER)
    if naming.refusal(name, kind):
        raise _wrong(naming.malformed(name, kind), naming.rule(name))
    return name


def settled(wanted: NewVm, known: Known) -> NewVm:
    """The same, with what follows from what is known.

    Raises:
        PluginError: something is missing, unknown, or named twice.
    """
    check_complete(wanted)
    return _with_vpc(with_known_vpc(placed(wanted, known), known), known)


def check_combination(wanted: NewVm) -> None:
    """Look for fields that exclude each other, of which nothing else has to be known.

    Raises:
        PluginError: there are two.
    """
    if wanted.image and wanted.snapshot:
        raise _wrong("--image and --snapshot: a root disk is made from one of them.", "Leave the other out.")
    if wanted.vpc and wanted.vpc_ref:
        raise _wrong("--vpc and --vpc-ref: a VM is in one VPC.", "Name one of them.")


def check_complete(wanted: NewVm, *others: str) -> None:
    """Look for what only the user can name, and for fields that exclude each other. Keys are looked for later.

    ``others`` are further words of the command that is printed for the user to complete.

    Raises:
        PluginError: something is missing, and all that is missing is named; or something is named twice.
    """
    if not wanted.name or not wanted.configuration:
        vpc = "" if wanted.vpc or wanted.vpc_ref else ", with --vpc VPC unless the namespace has one GpuVpc in that cluster"
        command = _to_complete(wanted, *others)
        raise _wrong(_missing(wanted), f"{OFFERS}{AFTER_COMMAND}Then complete this command{vpc}: {command}")
    check_combination(wanted)


def _missing(wanted: NewVm) -> str:
    if wanted.name:
        return "--configuration is missing."
    return (
        "the name of the GpuVM is missing."
        if wanted.configuration
        else "the name of the GpuVM and --configuration are missing."
    )


def _to_complete(wanted: NewVm, *others: str) -> str:
    """The command as it was typed, with a word in capitals for each that it lacks."""
    words = ["kubectl", "gpucloud", "create", wanted.name or "NAME"]
    lacking = {"configuration": "CONFIGURATION", "cluster": "CLUSTER"}
    for one in fields(wanted):
        value = getattr(wanted, one.name) or lacking.get(one.name)
        if value and one.metadata.get("names"):
            values = value if isinstance(value, tuple) else (value,)
            words += [word for each in values for word in (one.metadata["names"][-1], str(each))]
    return paste(shlex.join([*words, *others]))


def check_keys(wanted: NewVm) -> None:
    """Look for SSH keys.

    Raises:
        PluginError: there are none.
    """
    if not wanted.ssh_keys:
        make = "Name its file with --ssh-key, or make a key with ssh-keygen."
        raise _wrong("no public SSH key was found in ~/.ssh.", make)


def placed(wanted: NewVm, known: Known) -> NewVm:
    """Configuration, cluster and pool as the cloud spells them; the only cluster that has it, where none was named.

    Raises:
        PluginError: one is unknown, or the cluster is missing.
    """
    spelled_so_far = with_known_names(wanted, known)
    return with_known_names(_with_cluster(spelled_so_far, known), known)


def places_of(configuration: str, known: Known) -> list[str]:
    """The clusters that offer a configuration."""
    rows = known.rows or ()
    return sorted({str(row["cluster"]) for row in rows if row["cluster"] and row["configuration"] == configuration})


def _with_cluster(wanted: NewVm, known: Known) -> NewVm:
    if wanted.cluster:
        return wanted
    if known.rows is None:
        raise _without_cluster(wanted, known, (), OFFERS)
    places = places_of(wanted.configuration, known)
    if not places:
        what = f"--cluster is missing, and no offer of {wanted.configuration} names one."
        raise _wrong(what, "Give --cluster as the cloud spells it.")
    if len(places) > 1:
        there = f"Name one of those that offer {wanted.configuration}: {', '.join(places)}."
        raise _without_cluster(wanted, known, places, there)
    return replace(wanted, cluster=places[0])


def _without_cluster(wanted: NewVm, known: Known, places: Sequence[str], do: str) -> PluginError:
    """That the cluster is missing; and the VPC, too, where none follows from any of the clusters."""
    clusters = places or [str(item.spec.get("cluster", "")) for item in known.vpcs]
    if wanted.vpc or wanted.vpc_ref or any(len(known.vpcs_in(cluster)) == 1 for cluster in clusters):
        return _wrong("--cluster is missing.", do)
    return _wrong("--cluster and the VPC are missing.", f"{_naming_the_vpc((), known)} {do}")


def with_known_names(wanted: NewVm, known: Known) -> NewVm:
    """Configuration, cluster and pool as the cloud spells them, where they were named and the offers are known.

    Raises:
        PluginError: one of them is unknown.
    """
    if known.rows is None:
        return wanted
    rows = known.rows
    if wanted.configuration:
        configuration = spelled("configuration", wanted.configuration, (row["configuration"] for row in rows))
        wanted = replace(wanted, configuration=configuration)
        rows = tuple(row for row in rows if row["configuration"] == configuration)
    places = sorted({str(row["cluster"]) for row in rows if row["cluster"]})
    if wanted.cluster and places:
        named = spelled("cluster", wanted.cluster, [str(row["cluster"]) for row in known.rows if row["cluster"]])
        if named not in places:
            raise _wrong(f"--cluster: {named} does not offer {wanted.configuration}.", use_one_of(places))
        wanted = replace(wanted, cluster=named)
    pools = {str(row["resourcePool"]) for row in rows if wanted.cluster in {"", row["cluster"]} and row["resourcePool"]}
    return replace(wanted, pool=spelled_if_known("pool", wanted.pool, pools))


def with_known_vpc(wanted: NewVm, known: Known) -> NewVm:
    """The VPC as the cloud spells it, where it was named and the cloud's own are known.

    A name that a GpuVpc of the cluster has is known, too: its VPC may still be made.

    Raises:
        PluginError: there is no such VPC.
    """
    if not wanted.vpc or not known.in_cloud:
        return wanted
    objects = known.vpcs_in(wanted.cluster)
    coming = {str(item.spec["name"]) for item in known.vpcs if item.key.name in objects and item.spec.get("name")}
    names = sorted(known.in_cloud | coming)
    found = next((name for name in names if name.casefold() == wanted.vpc.casefold()), None)
    if found is not None:
        return replace(wanted, vpc=found)
    what = f"--vpc: the cloud lists no VPC {wanted.vpc!r} in cluster {wanted.cluster}.{question(nearest(wanted.vpc, names))}"
    if wanted.vpc in objects:
        raise _wrong(what, f"Use --vpc-ref {wanted.vpc} for the GpuVpc of this name.")
    raise _wrong(what, use_one_of(names))


def spelled(option: str, word: str, known: Iterable[str]) -> str:
    """The known name that an option's word spells, in any case of letters.

    Raises:
        PluginError: it spells none of them.
    """
    names = sorted({str(name) for name in known})
    found = next((name for name in names if name.casefold() == word.casefold()), None)
    if not names:
        raise _wrong(f"--{option}: {word!r} is not offered, nor is any other.", OFFERS)
    if found is None:
        raise _wrong(f"--{option}: {word!r} is not offered.{question(nearest(word, names))}", use_one_of(names))
    return found


def spelled_if_known(option: str, word: str, known: Iterable[str]) -> str:
    """The same; where nothing was typed, or no name is known, the word as it is.

    Raises:
        PluginError: some names are known, and it spells none of them.
    """
    names = tuple(known)
    return spelled(option, word, names) if word and names else word


def _with_vpc(wanted: NewVm, known: Known) -> NewVm:
    there = known.vpcs_in(wanted.cluster)
    if wanted.vpc_ref:
        names = {item.key.name for item in known.vpcs}
        if wanted.vpc_ref in names and wanted.vpc_ref not in there:
            what = f"--vpc-ref: GpuVpc/{wanted.vpc_ref} is not in cluster {wanted.cluster}."
            raise _wrong(what, "Use one that is, or --vpc.")
    elif not wanted.vpc:
        if len(there) != 1:
            raise _wrong("the VPC is missing.", _naming_the_vpc(there, known))
        return replace(wanted, vpc_ref=there[0])
    return wanted


def _naming_the_vpc(there: Sequence[str], known: Known) -> str:
    tenant = f", for example {known.tenant}" if known.tenant else ", usually the tenant's name"
    which = f"--vpc-ref ({', '.join(there)})" if there else "--vpc-ref with a GpuVpc of the namespace"
    return f"Name the VPC with {which}, or with --vpc as the cloud has it{tenant}."


def price(wanted: NewVm, known: Known) -> str:
    """The sentence on what it will cost; that this is not known, where the pool is not, and pools differ in price.

    Without a pool it is in the account's default pool, else in the cloud's, which no call tells.
    """
    prices = {str(row["resourcePool"]): row["pricePerHour"] for row in known.rows or () if _fits(wanted)(row)}
    if not any(prices.values()):
        return "Its price is not known: no offer names it."
    if len(set(prices.values())) == 1:
        return f"It is billed ${next(iter(prices.values()))} an hour."
    each = ", ".join(f"{pool} ${cost}" if cost else f"{pool} unknown" for pool, cost in sorted(prices.items()))
    return f"Its price is not known: without --pool it is in the default pool, and the price depends on the pool ({each})."


def _fits(wanted: NewVm) -> Callable[[Row], bool]:
    return lambda row: (
        row["configuration"] == wanted.configuration
        and row["cluster"] == wanted.cluster
        and wanted.pool in {"", row["resourcePool"]}
    )


def notes(wanted: NewVm, known: Known) -> Iterator[str]:
    """What it will wait for, and what may be a slip."""
    fitting = [row["available"] for row in known.rows or () if _fits(wanted)(row)]
    if fitting and not any(available is not False for available in fitting):
        yield f"{wanted.configuration} is not free in {wanted.cluster} now: the VM waits for it, and is not billed until then."
    for kind, name, things in ((VPC, wanted.vpc_ref, known.vpcs), (SNAPSHOT, wanted.snapshot, known.snapshots)):
        names = None if things is None else [item.key.name for item in things]
        if name and names is not None and name not in names:
            yield f"there is no {kind}/{name} in the namespace: the VM waits for it.{question(nearest(name, names))}"
    vpcs = known.vpc_names() if known.in_cloud is None else known.in_cloud  # what the cloud lists was compared already
    for option, word, seen in (("vpc", wanted.vpc, vpcs), ("image", wanted.image, known.images())):
        suggested = "" if word in seen else question(nearest(word, seen))
        if word and suggested:
            yield f"--{option}: no object of the namespace names {word!r}.{suggested} If not, keep it: the cloud may know it."


def unknown_vpc(name: str, known: Known) -> str:
    """That no object of the namespace, nor the account, names this VPC; empty where one does, or none names any."""
    names = known.vpc_names()
    if name in names or not names:
        return ""
    near = question(nearest(name, names))
    there = f"no object of the namespace names the VPC {name!r}"
    return (
        f"{there}.{near} Else type it again."
        if near
        else f"{there} (known: {', '.join(names)}): if the cloud has it, type it again."
    )


def manifest(wanted: NewVm, namespace: str | None) -> dict[str, Any]:
    """The object. Without a namespace it goes where it is applied."""
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": API_VERSION, "kind": VM, "metadata": {"name": wanted.name, **place}, "spec": spec(wanted)}


def spec(wanted: NewVm) -> dict[str, Any]:
    """Its spec, in the order in which people read it."""
    image = {"operatingSystem": wanted.image, "snapshotRef": {"name": wanted.snapshot} if wanted.snapshot else None}
    fields = {
        "cluster": wanted.cluster,
        "configuration": wanted.configuration,
        "resourcePool": wanted.pool,
        "vpc": wanted.vpc,
        "vpcRef": {"name": wanted.vpc_ref} if wanted.vpc_ref else None,
        "accountRef": {"name": wanted.account} if wanted.account else None,
        "sshKeys": list(wanted.ssh_keys),
        "image": {name: value for name, value in image.items() if value},
        "rootDiskGiB": wanted.disk,
    }
    return {name: value for name, value in fields.items() if value}


def public_keys(text: str, file: str) -> tuple[str, ...]:
    """The keys of a ``.pub`` file, or of one like ``authorized_keys``.

    Raises:
        PluginError: it holds none, or a private key.
    """
    if "PRIVATE KEY" in text:
        raise _wrong(f"--ssh-key: {file} is a private key.", "Name the file beside it that ends in .pub.")
    keys = tuple(line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    if not keys or not all(re.match(r"(ssh|ecdsa|sk-ssh|sk-ecdsa)-\S+ AAAA", key) for key in keys):
        raise _wrong(f"--ssh-key: {file} holds no OpenSSH public key.", "Name a .pub file.")
    return keys


def _wrong(what: str, do: str) -> PluginError:
    return PluginError(what, ExitCode.MISUSED, do=do)
