"""What of ``spec.placement`` of a GpuVM is accepted, refused and free."""

from __future__ import annotations

from support.crdcases.cases import Edit

OTHER = {"configuration": "A100_40GB_PCIe_2x"}


def placement(*alternatives, **more):
    return {"placement": {"alternatives": list(alternatives)}, **more}


PLACEMENT_ACCEPTED = [
    ("another configuration", placement(OTHER)),
    ("another pool", placement({"resourcePool": "on-demand"})),
    ("another cluster", placement({"cluster": "Hou1"})),
    ("its own cluster, and another configuration", placement({"cluster": "Msc1", **OTHER})),
    ("another cluster and an image of the cloud", placement({"cluster": "Hou1"}, image={"operatingSystem": "Ubuntu 22.04"})),
    ("as many alternatives as may be", placement(*({"configuration": f"c{number}"} for number in range(8)))),
    ("a placement without alternatives", {"placement": {}}),
    ("a wait of a month", {"placement": {"waitSeconds": 2592000}}),
    ("the highest priority", {"placement": {"priority": 1000}}),
    ("alternatives by price", {"placement": {"alternatives": [OTHER], "order": "Price"}}),
    ("another configuration on the same node", placement(OTHER, nodeName="n", resourcePool="reserved-acme")),
]
WHERE = "spec.placement.alternatives"
PLACEMENT_REFUSED = [
    ("an alternative that says nothing", placement({}), f"{WHERE}[0]", "set its cluster, configuration or resourcePool"),
    ("too many alternatives", placement(*([OTHER] * 9)), WHERE, "must have at most 8 items"),
    ("an empty configuration", placement({"configuration": ""}), f"{WHERE}[0].configuration", "at least 1 chars long"),
    ("too long a pool", placement({"resourcePool": "x" * 254}), f"{WHERE}[0].resourcePool", "Too long"),
    ("an empty cluster", placement({"cluster": ""}), f"{WHERE}[0].cluster", "at least 1 chars long"),
    ("another cluster and a VPC of one", placement({"cluster": "Hou1"}, vpc=None, vpcRef={"name": "net"}), "spec.vpcRef",
     "set spec.vpc in place of spec.vpcRef"),
    ("another cluster and a chosen name", placement({"cluster": "Hou1"}, vmName="prod"), "spec.vmName", "remove spec.vmName"),
    ("another cluster and a node", placement({"cluster": "Hou1"}, nodeName="n", resourcePool="p"), "spec.nodeName",
     "A node is in one cluster"),
    ("another cluster and a snapshot", placement({"cluster": "Hou1"}, image={"snapshot": "s"}), "spec.image",
     "A snapshot is in one cluster"),
    ("another cluster and a GpuSnapshot", placement({"cluster": "Hou1"}, image={"snapshotRef": {"name": "s"}}), "spec.image",
     "A snapshot is in one cluster"),
    ("no wait", {"placement": {"waitSeconds": 0}}, "spec.placement.waitSeconds", "greater than or equal to 1"),
    ("too high a priority", {"placement": {"priority": 1001}}, "spec.placement.priority", "less than or equal to 1000"),
    ("an order that there is not", {"placement": {"order": "Cheapest"}}, "spec.placement.order",
     'supported values: "AsListed", "Price"'),
    ("another pool than the node's", placement({"resourcePool": "on-demand"}, nodeName="n", resourcePool="reserved-acme"),
     "spec.placement", "A node is in one resource pool"),
]  # fmt: skip
PLACEMENT_FREE = [
    Edit("placement.waitSeconds", 60, 90),
    Edit("placement.priority", 1, -1),
    Edit("placement.order", "AsListed", "Price"),
    Edit("placement", {"alternatives": [OTHER]}, {"alternatives": [{"resourcePool": "on-demand"}]}),
    Edit("placement.alternatives", [OTHER], [OTHER, {"cluster": "Hou1"}]),
    Edit("placement.alternatives", [OTHER], [{"resourcePool": "on-demand"}, OTHER]),
]
