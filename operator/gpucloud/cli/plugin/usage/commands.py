"""The verbs, as data: what each takes, what it says of itself, and in which module it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from gpucloud.cli.plugin.usage import options as o
from gpucloud.cli.plugin.usage.cloud_commands import CLOUD_VERBS, OFFERS
from gpucloud.cli.plugin.usage.options import Group, Parameter, Verb

NAME = "kubectl gpucloud"
ABOUT = """\
See, wait for and steer the virtual machines, snapshots and VPCs of the GPU cloud.

It works through your kubeconfig, with your rights, and asks you for no key of the cloud."""

_OBJECTS = Parameter(
    key="objects",
    metavar="[[KIND/]NAME]...",
    many=True,
    help="Objects, such as gvpc/lab: KIND is gvm, gvpc, gsnap, gca or ghost; a name alone is a GpuVM's. All of the namespace "
    "when not given.",
    names_objects=True,
    candidates="vms_or_objects",
)
_SELECTOR = Parameter(
    key="selector",
    names=("--selector", "-l"),
    metavar="LABELS",
    default="",
    help="Only objects with these labels, such as team=vision or 'team in (vision, audio)', and what they hang on.",
)
_WATCH = Parameter(
    key="watch",
    names=("--watch", "-w"),
    takes_value=False,
    default=False,
    help="Look once a second until Ctrl-C: draws in place on a terminal; elsewhere prints again only what has changed.",
)
_VMS = Parameter(
    key="vms",
    metavar="VM...",
    many=True,
    required=True,
    help="Names of GpuVMs: train, or gvm/train.",
    names_objects=True,
    candidates="vms",
)


def _status(summary: str, *examples: str) -> Verb:
    return Verb(
        module="status",
        function="status",
        summary=summary,
        about="All GPU cloud objects of a namespace as a tree: account, VPC, VM, snapshot. Above it stand the root causes: the "
        "objects that are not as asked and wait for no other, with their whole message and with those that wait for them. "
        "Named objects come with their events.",
        takes=(_OBJECTS, _SELECTOR, _WATCH, o.output(wide=True), o.ALL_NAMESPACES, *o.CLUSTER),
        examples=examples,
    )


def _power(verb: str, summary: str, *examples: str) -> Verb:
    return Verb(
        module="power",
        function=verb,
        summary=summary,
        takes=(_VMS, o.WAIT, o.TIMEOUT, *o.CLUSTER),
        examples=examples,
    )


_ANY = Parameter(
    key="objects",
    metavar="[KIND/]NAME...",
    many=True,
    required=True,
    help="Objects, such as gvpc/lab: KIND is gvm, gvpc, gsnap, gca or ghost; a name alone is a GpuVM's.",
    names_objects=True,
    candidates="vms_or_objects",
)
_RETAINABLE = replace(_ANY, help="Objects, such as gvpc/lab: KIND is gvm, gvpc or gsnap; a name alone is a GpuVM's.")


def _from(**option: Any) -> Any:
    """A field of ``NewVm`` with the option or argument that fills it."""
    return field(default=() if option.get("many") else option.get("default"), metadata=option)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVm:
    """What ``create`` is asked for: as it was typed, then completed; empty where nothing was said.

    Each field stands here once, with its option; ``vm_manifest.spec`` says where it goes in the manifest.
    """

    name: str = _from(default="", metavar="[NAME]", help="Name of the GpuVM; asked for on a terminal.", names_objects=True)
    configuration: str = _from(
        names=("--configuration", "-c"),
        default="",
        help="Configuration, such as A100_40GB_PCIe_1x.",
        candidates="configurations",
    )
    cluster: str = _from(**asdict(o.in_cluster("Cluster of the cloud; the only one with this configuration when not given.")))
    pool: str = _from(names=("--pool",), default="", help="Resource pool; the cloud's choice when not given.")
    vpc_ref: str = _from(
        names=("--vpc-ref",),
        metavar="GPUVPC",
        default="",
        help="GpuVpc of the namespace; the only one in the cluster when not given.",
        candidates="vpcs",
    )
    vpc: str = _from(names=("--vpc",), default="", help="Name of a VPC in the cloud, in place of --vpc-ref.")
    key_files: tuple[str, ...] = _from(
        names=("--ssh-key",),
        metavar="FILE",
        many=True,
        help="File of a public key that may log in, repeatable; ~/.ssh/id_ed25519.pub or the like when not given.",
    )
    image: str = _from(names=("--image",), default="", help="Operating system image, as the cloud spells it.")
    snapshot: str = _from(names=("--snapshot",), metavar="GPUSNAPSHOT", default="", help="GpuSnapshot to start from.")
    disk: int | None = _from(names=("--disk",), metavar="GIB", convert=o.whole(1, 2**31 - 1), help="Size of the root disk.")
    ssh_keys: tuple[str, ...] = ()  # what the files hold; they are read when the names are known to be right
    account: str = ""  # as the manifest names it


_NEW_VM = tuple(Parameter(**{**one.metadata, "key": one.name}) for one in fields(NewVm) if one.metadata)
GROUPS = (o.ASKED, Group(key="vm", make=NewVm, members=_NEW_VM))


# What people try here by the habit of kubectl, and what to run for it.
ELSEWHERE = {
    "apply": "kubectl apply -f FILE",
    "completion": "kubectl completion --help",
    "delete": "kubectl delete gpuvm NAME",
    "describe": "kubectl gpucloud status NAME",
    "edit": "kubectl edit gpuvm NAME",
    "exec": "kubectl gpucloud ssh NAME -- COMMAND",
    "get": "kubectl gpucloud status",
    "list": "kubectl gpucloud status",
    "reboot": "kubectl gpucloud restart NAME",
    "top": "kubectl gpucloud status -w",
}

VERBS: dict[str, Verb] = {
    "status": _status(
        "Show what there is, what is wrong first, and who waits for whom.",
        "status",
        "status gvm/train",
        "status -l team=vision -w",
        "status -o wide",
        "status -A -o json",
    ),
    "tree": _status("The same as status.", "tree", "tree -n team"),
    "wait": Verb(
        module="wait",
        function="wait_for",
        summary="Wait until objects are ready, or gone; stop at once when one of them is Stalled.",
        about="Progress is shown on standard error, the outcome of each object on standard output. The exit code is 0 when all "
        "are as wanted, 3 when one will not get there without a person, 4 when the time is over. An object that needs a valid "
        "account or Secret is given 90 seconds, since what it shows may be older than a correction.",
        takes=(
            _ANY,
            Parameter(
                key="goal",
                names=("--for",),
                default="ready",
                choices=("ready", "gone"),
                habits=(("delete", "gone"), ("condition=Ready", "ready")),
                help="ready: as the spec asks. gone: deleted, and proven gone in the cloud.",
            ),
            o.TIMEOUT,
            *o.CLUSTER,
        ),
        examples=("wait gvm/train gvpc/lab", "wait gvm/train --for gone --timeout 10m"),
    ),
    "create": Verb(
        module="create",
        function="create",
        summary="Print the manifest of a new GpuVM from the offers, or create it.",
        waits_for=OFFERS,
        about="With a name and a configuration it prints the manifest, or creates the VM with --apply. Without one of them, on "
        "a terminal, it asks for what is missing, shows the price, and asks before it creates the VM. Configuration, cluster "
        "and pool are compared with the offers.",
        takes=(
            *_NEW_VM,
            Parameter(
                key="apply",
                names=("--apply",),
                takes_value=False,
                default=False,
                help="Create it, without asking whether to.",
            ),
            o.WAIT,
            o.TIMEOUT,
            *o.BY_ACCOUNT,
        ),
        examples=(
            "create",
            "create train -c A100_40GB_PCIe_1x > train.yaml",
            "create train -c A100_40GB_PCIe_1x --apply --wait",
        ),
    ),
    "start": _power("start", "Power VMs on: sets spec.powerState to Running.", "start train --wait"),
    "stop": _power(
        "stop",
        "Power VMs off: sets spec.powerState to Stopped. The GPU is freed; the disk stays, and is billed.",
        "stop train eval --wait --timeout 10m",
    ),
    "restart": Verb(
        module="power",
        function="restart",
        summary="Stop a VM and start it again.",
        about="It sets the annotation gpucloud.dev/restart-requested-at, which the status answers.",
        takes=(o.ONE_VM, o.WAIT, o.TIMEOUT, *o.CLUSTER),
        examples=("restart train --wait",),
    ),
    "snapshot": Verb(
        module="snapshot",
        function="snapshot",
        summary="Take a snapshot of a VM: creates a GpuSnapshot that refers to it.",
        about="With the --name of a snapshot of this VM that is not taken yet, it is the same request: nothing is created, and "
        "the exit code is 0. One that was taken before is refused, since it shows an older state.",
        takes=(
            o.ONE_VM,
            Parameter(
                key="name", names=("--name",), help="Name of the GpuSnapshot; the VM's name and the time when not given."
            ),
            o.WAIT,
            o.TIMEOUT,
            *o.CLUSTER,
        ),
        examples=("snapshot train --wait", "snapshot train --name before-upgrade"),
    ),
    "pause": Verb(
        module="requests",
        function="pause",
        summary="Pause objects: nothing is created, switched or destroyed for them, deletion included.",
        about="It sets the annotation gpucloud.dev/paused. What is in the cloud already goes on, and is billed.",
        takes=(_ANY, *o.CLUSTER),
        examples=("pause train", "pause gvm/train gvpc/lab"),
    ),
    "resume": Verb(
        module="requests",
        function="resume",
        summary="End a pause: removes the annotation gpucloud.dev/paused.",
        takes=(_ANY, *o.CLUSTER),
        examples=("resume train",),
    ),
    "retry": Verb(
        module="requests",
        function="retry",
        summary="Try again now what the cloud has refused.",
        about="It sets the annotation gpucloud.dev/reconcile-requested-at, which the status answers. No VM is bought twice: "
        "what may have been ordered is looked for first.",
        takes=(_ANY, o.WAIT, o.TIMEOUT, *o.CLUSTER),
        examples=("retry train --wait", "retry gsnap/before gvpc/lab"),
    ),
    "retain": Verb(
        module="requests",
        function="retain",
        summary="Keep in the cloud what an object stands for when the object is deleted: sets spec.deletion.policy to Retain.",
        about="A VM that is kept goes on running and is billed, and no object stands for it. To undo it before the deletion: "
        'kubectl patch gpuvm train --type=merge --patch \'{"spec":{"deletion":{"policy":"Delete"}}}\'',
        takes=(_RETAINABLE, *o.CLUSTER),
        examples=("retain train", "retain gsnap/before"),
    ),
    "ssh": Verb(
        module="ssh",
        function="ssh",
        summary="Log in to a VM with the ssh of this machine, at the address in the VM's status.",
        about="The exit code is ssh's own.",
        takes=(
            o.ONE_VM,
            Parameter(key="args", metavar="[-- ARGS]...", many=True, help="Options and a command for ssh, after --."),
            Parameter(
                key="login",
                names=("--login", "-l"),
                metavar="USER",
                help="User to log in as; GPUCLOUD_SSH_USER, else ubuntu.",
            ),
            Parameter(
                key="private",
                names=("--private",),
                takes_value=False,
                default=False,
                help="Use the private address, from inside the VPC.",
            ),
            Parameter(
                key="print_only",
                names=("--print",),
                takes_value=False,
                default=False,
                help="Print the command instead of running it.",
            ),
            *o.CLUSTER,
        ),
        examples=("ssh train", "ssh train -l root -- -L 8888:localhost:8888", "ssh train --print -- nvidia-smi"),
    ),
    **CLOUD_VERBS,
    "explain": Verb(
        module="explain",
        function="explain",
        summary="Explain a reason of a condition or event, or a condition, and what to do.",
        about="Without one it lists all reasons. It asks no cluster.",
        takes=(
            Parameter(
                key="reason",
                metavar="[REASON]",
                help="A reason or condition, such as Rejected, in any case of letters.",
                candidates="reasons",
            ),
            o.output(),
        ),
        examples=("explain WaitingForCapacity", "explain -o json"),
    ),
    "doctor": Verb(
        module="doctor",
        function="doctor",
        summary="Look for what keeps things from working, and say what to do about each.",
        about="Checks the CRDs and their version, who you are and what you may do, whether an operator runs and watches the "
        "namespace, accounts and their Secrets, objects that are Stalled, held by the deletion guard, paused, or long in "
        "deletion, and annotations that mean nothing. It changes nothing.",
        takes=(o.output(), o.OPERATOR_NAMESPACE, o.ALL_NAMESPACES, *o.CLUSTER),
        examples=("doctor", "doctor -A -o json"),
    ),
    "report": Verb(
        module="report",
        function="report",
        summary="Write an archive for a bug report: versions, objects, events, findings, and the operator's pods and logs.",
        about="It holds what you may read of the namespace and of the operator's. No Secret is read; SSH keys, values of "
        "environment variables, users, passwords and queries of URLs are left out. Look through it before you send it.",
        takes=(
            Parameter(
                key="file",
                names=("--file",),
                convert=Path,
                help="Name of the archive; made of namespace and time when not given.",
            ),
            o.OPERATOR_NAMESPACE,
            *o.CLUSTER,
        ),
        examples=("report", "report -n team --file report.tar.gz"),
    ),
    "version": Verb(
        module="version",
        function="version",
        summary="Show the versions of the plugin, of the apiserver, and of the operators that you may see.",
        takes=(
            Parameter(
                key="client", names=("--client",), takes_value=False, default=False, help="Of the plugin only; asks no cluster."
            ),
            o.output(),
            o.OPERATOR_NAMESPACE,
            *o.CLUSTER,
        ),
        examples=("version", "version --client"),
    ),
}
