"""The verbs that need the cloud itself, as data. They start more slowly than the others, since they load its client."""

from __future__ import annotations

from gpucloud.cli.plugin.usage import options as o
from gpucloud.cli.plugin.usage.options import Parameter, Verb
from gpucloud.cli.terminal.printing import Output

OFFERS = "asking the cloud for its offers"
ALL = "asking the cloud for all that the account sees"
CLOUD_VERBS: dict[str, Verb] = {
    "logs": Verb(
        module="cloud",
        function="logs",
        summary="Print the boot log of a VM.",
        waits_for="asking the cloud for the boot log",
        takes=(
            o.ONE_VM,
            Parameter(
                key="limit",
                names=("--limit",),
                default="2000",
                convert=o.whole(1, 10000),
                help="At most so many entries of the log.",
            ),
            Parameter(
                key="tail", names=("--tail",), metavar="LINES", convert=o.whole(0, 2**31 - 1), help="Only so many last lines."
            ),
            Parameter(
                key="follow",
                names=("--follow", "-f"),
                takes_value=False,
                default=False,
                help="Read the log again every 5 seconds, and print what is new, until Ctrl-C.",
            ),
            o.output(),
            *o.CLOUD,
            *o.CLUSTER,
        ),
        examples=("logs train", "logs train --tail 20 -f", "logs train --limit 100 -o json"),
    ),
    "offers": Verb(
        module="cloud",
        function="offers",
        summary="List what can be bought: configurations, prices, and where they can be had now.",
        waits_for=OFFERS,
        takes=(
            o.in_cluster("One cluster of the cloud only."),
            Parameter(
                key="available", names=("--available",), takes_value=False, default=False, help="Only what can be had now."
            ),
            o.output(),
            *o.BY_ACCOUNT,
        ),
        examples=("offers", "offers --cluster Msc1 --available"),
    ),
    "orphans": Verb(
        module="orphans",
        function="orphans",
        waits_for=ALL,
        summary="List VMs and snapshots that this installation created and whose object is gone. They may still be billed.",
        about="Needs the right to list all GpuVMs and GpuSnapshots of the cluster: the object of what is seen may be in any "
        "namespace. Exit code 3: there are some.",
        takes=(
            Parameter(
                key="install_tag",
                names=("--install-tag",),
                metavar="TAG",
                default="",
                help="The operator's own --install-tag, if it has one.",
            ),
            o.output(),
            *o.BY_ACCOUNT,
        ),
        examples=("orphans", "orphans -o json"),
    ),
    "export": Verb(
        module="adopt",
        function="export",
        waits_for=ALL,
        summary="Print manifests for what exists in the cloud and has no object.",
        about="Each adopts (adoption: Required), asks for the power state that there is, and leaves what it adopts when it is "
        "deleted: applied, they change nothing in the cloud. A bare metal host gets a GpuHost, which observes it and requests "
        "nothing. What cannot be adopted, such as a VM that is being switched on or "
        "off, is named on standard error, and in the json form.",
        takes=(
            Parameter(key="kind", names=("--kind",), default="", help="One kind only: gvm, gsnap, gvpc or ghost."),
            o.in_cluster("One cluster of the cloud only."),
            o.output(Output.YAML),
            *o.BY_ACCOUNT,
        ),
        examples=("export > cloud.yaml", "export --kind gvpc --cluster Msc1 | kubectl apply -f -", "export --kind ghost"),
    ),
    "adopt": Verb(
        module="adopt",
        function="adopt",
        waits_for=ALL,
        summary="Print the manifest of an object that adopts one VM, snapshot or VPC, or create that object.",
        about="The manifest is that of 'export': applied, it changes nothing in the cloud. With --apply the object is created.",
        takes=(
            Parameter(
                key="name",
                metavar="[KIND/]NAME",
                required=True,
                names_objects=True,
                help="Its name in the cloud: old-trainer, gsnap/golden, gvpc/acme; a name alone is a VM's.",
                candidates="adoptable_kinds",
            ),
            o.in_cluster("The cluster of the cloud that it is in."),
            Parameter(key="vpc", names=("--vpc",), default="", help="The VPC that it is in."),
            Parameter(key="apply", names=("--apply",), takes_value=False, default=False, help="Create the object."),
            o.output(Output.YAML),
            *o.BY_ACCOUNT,
        ),
        examples=("adopt old-trainer", "adopt old-trainer --apply", "adopt gsnap/golden --vpc acme | kubectl apply -f -"),
    ),
}
