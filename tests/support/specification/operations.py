"""Every operation of the specification, every parameter of it, and the rules stated beside them. Read line by line.

The tests have tables of their own, written independently of this one; a difference shows as an unknown or unproven id.
"""

from __future__ import annotations

from dataclasses import dataclass

from support.specification.statement import Chapter, Section, Statement

SERVICE_DECIDES = "the service decides it; the client sends the request and reads the answer"
_TENANT = "the client does not know its tenant's name; the service decides"


@dataclass(frozen=True)
class Rule:
    """A rule about one parameter; ``name`` ends its id."""

    name: str
    says: str
    not_at_client: str = ""


@dataclass(frozen=True)
class Parameter:
    """A query parameter or member of a body. ``noted`` and ``need_noted``: it, or only its being required, is a field note."""

    name: str
    kind: str
    required: bool
    rules: tuple[Rule, ...] = ()
    noted: bool = False
    need_noted: bool = False

    def statements(self, operation: str, place: str) -> list[Statement]:
        """Return what is stated of this parameter."""
        own = f"{operation}.{self.name}"
        need = "required" if self.required else "optional"
        return [
            Statement(own, f"{place}: {self.kind}", noted=self.noted),
            Statement(f"{own}:{need}", f"{self.name} is {need}", noted=self.noted or self.need_noted),
            *(
                Statement(f"{own}:{rule.name}", rule.says, not_at_client=rule.not_at_client, noted=self.noted)
                for rule in self.rules
            ),
        ]


NOT_EMPTY = Rule("min-length-1", "at least one character")
ID_IN_QUERY = (Parameter("Id", "string", required=True), Parameter("Cluster", "string", required=True))
NAME_IN_QUERY = (*ID_IN_QUERY, Parameter("Namespace", "string", required=True))
NAME_IN_BODY = tuple(Parameter(name, "string", required=True, rules=(NOT_EMPTY,)) for name in ("id", "namespace", "cluster"))
FILTER = (Parameter("Cluster", "string", required=False),)
HOST_IN_BODY = tuple(Parameter(name, "string", required=True, need_noted=True) for name in ("id", "cluster"))


def operation(
    name: str,
    method: str,
    folder: str,
    answer: str,
    *parameters: Parameter,
    errors: str = "",
    more: tuple[Statement, ...] = (),
) -> Section:
    """Return the section of one operation; ``errors`` are the codes listed for it."""
    path = f"/api/{folder}/{name}"
    place = "body" if method == "POST" and name != "RefreshToken" else "query"
    found = [Statement(name, f"`{method} {path}`"), Statement(f"{name}:answer", answer, noted=folder == "TokenAuth")]
    found += [statement for parameter in parameters for statement in parameter.statements(name, place)]
    if errors:
        found.append(Statement(f"{name}:errors", f"error codes {errors}"))
    return Section(name, (*found, *more))


USUAL = "400, 401, 403, 500"

CLUSTERS = Chapter(
    "Clusters",
    (
        operation(
            "GetAll",
            "GET",
            "v1/clusters",
            "200: an array of names",
            errors=USUAL,
            more=(Statement("GetAll:content-types", "offered as text/plain, application/json and text/json"),),
        ),
    ),
)

_VM = "v1/servers/virtual"
CREATE_SERVER = (
    Parameter(
        "name",
        "string",
        required=False,
        rules=(
            Rule("max-52", "at most 52 characters"),
            Rule("generated", "generated when left out", SERVICE_DECIDES),
        ),
    ),
    Parameter(
        "rpool",
        "string, resource pool",
        required=False,
        rules=(
            Rule("first-assigned", "left out: the first pool assigned to the tenant", SERVICE_DECIDES),
            Rule("on-demand", "left out and none assigned: on-demand", SERVICE_DECIDES),
        ),
    ),
    Parameter(
        "vpc",
        "string",
        required=True,
        rules=(NOT_EMPTY, Rule("usually-tenant", "usually the tenant's name", SERVICE_DECIDES)),
    ),
    Parameter(
        "configuration",
        "string",
        required=True,
        rules=(NOT_EMPTY, Rule("listed", "a `name` of GetConfigurations", SERVICE_DECIDES)),
    ),
    Parameter("cluster", "string", required=True, rules=(NOT_EMPTY, Rule("listed", "a value of GetAll", SERVICE_DECIDES))),
    Parameter("ssh_keys", "array of string", required=True, rules=(Rule("min-items-1", "at least one item"),)),
    Parameter("snapshotName", "string", required=False),
    Parameter(
        "tenantCustomImageFileName",
        "string",
        required=False,
        rules=(Rule("deploys", "when set, the VM is deployed from that image", SERVICE_DECIDES),),
    ),
    Parameter("operatingSystemImage", "string, name of an image", required=False),
    Parameter("personalStorageMountPath", "string, mount path", required=False),
    Parameter("tenantSharedAdditionalStorage", "string, mount path", required=False),
    Parameter(
        "persistStorage",
        "boolean",
        required=False,
        rules=(Rule("meaning", "true: direct attached storage persists; false: it is ephemeral", SERVICE_DECIDES),),
    ),
    Parameter("directStorageMountPath", "string, mount path", required=False),
    Parameter("blockStorageNames", "array of string", required=False),
    Parameter(
        "rootDiskSize", "integer, in Gi", required=False, rules=(Rule("int32", "a whole number that fits into 32 bits"),)
    ),
    Parameter(
        "selectedNode",
        "string, name of a node",
        required=False,
        rules=(
            Rule("pools", "for pools other than on-demand", SERVICE_DECIDES),
            Rule("node-selector", "becomes the node selector", SERVICE_DECIDES),
        ),
    ),
)
AVAILABILITY = (
    Parameter("cluster", "string", required=True),
    Parameter("resourcePool", "string", required=False),
    Parameter(
        "reportNodes",
        "boolean",
        required=False,
        rules=(
            Rule("default-true", "true when left out", SERVICE_DECIDES),
            Rule("uncounted", "false: count and maxCount are not calculated"),
        ),
    ),
)
LIMIT = Parameter(
    "Limit",
    "integer (int32), the greatest number of entries",
    required=True,
    rules=(
        Rule("min-1", "at least 1"),
        Rule("max-10000", "at most 10000"),
        Rule("default-2000", "described as defaulting to 2000"),
    ),
)
DELETE_SNAPSHOTS = Parameter(
    "DeleteSnapshots",
    "boolean",
    required=False,
    rules=(Rule("meaning", "true: the VM's snapshots are deleted with it", SERVICE_DECIDES),),
)

VIRTUAL_MACHINES = Chapter(
    "Virtual machines",
    (
        operation("GetServers", "GET", _VM, "200: `items`, an array of VM records", *FILTER),
        operation("GetServer", "GET", _VM, "200: a VM record", *NAME_IN_QUERY),
        operation("CreateServer", "POST", _VM, "202: a VM record", *CREATE_SERVER),
        operation("StartServer", "POST", _VM, "202: an operation result", *NAME_IN_BODY),
        operation("StopServer", "POST", _VM, "202: an operation result", *NAME_IN_BODY),
        operation("DestroyServer", "DELETE", _VM, "202: an operation result", *NAME_IN_QUERY, DELETE_SNAPSHOTS),
        operation("GetConfigurations", "GET", _VM, "200: `items`, an array of configuration records"),
        operation("GetAvailability", "GET", _VM, "200: `items`, an array of availability records", *AVAILABILITY),
        operation("GetVirtualMachineBootLogs", "GET", _VM, "200: a boot log record", *NAME_IN_QUERY, LIMIT),
    ),
)

_METAL = "v1/servers/metal"
REPROVISION = (
    Parameter("imageUrl", "string, where the image is", required=False, need_noted=True),
    Parameter("imageChecksum", "string, where the checksum is", required=False, need_noted=True),
    Parameter("cloudInitBase64", "string, cloud-init in base64", required=False, need_noted=True),
)
HOST_FILTER = Parameter("Cluster", "string", required=False, noted=True)

BARE_METAL = Chapter(
    "Bare metal",
    (
        operation("GetHost", "GET", _METAL, "200: a host record", *ID_IN_QUERY, errors=USUAL),
        operation("GetHosts", "GET", _METAL, "200: `items`, an array of host records", HOST_FILTER, errors=USUAL),
        operation("RebootHost", "POST", _METAL, "200: a host record", *HOST_IN_BODY, errors="400, 401, 403, 422, 500"),
        operation(
            "ReprovisionHost",
            "POST",
            _METAL,
            "200: a host record",
            *HOST_IN_BODY,
            *REPROVISION,
            errors="400, 401, 403, 422, 500",
        ),
    ),
)

_SNAPSHOTS = "v1/servers/snapshots"
CREATE_SNAPSHOT = (
    Parameter("name", "string", required=False),
    Parameter("namespace", "string", required=True, rules=(NOT_EMPTY,)),
    Parameter("cluster", "string", required=True, rules=(NOT_EMPTY,)),
    Parameter("sourceVMName", "string", required=False),
)

SNAPSHOTS = Chapter(
    "Snapshots",
    (
        operation("GetSnapshots", "GET", _SNAPSHOTS, "200: `items`, an array of snapshot records", *FILTER, errors=USUAL),
        operation("GetSnapshot", "GET", _SNAPSHOTS, "200: a snapshot record", *NAME_IN_QUERY, errors=USUAL),
        operation(
            "CreateSnapshot",
            "POST",
            _SNAPSHOTS,
            "202: a snapshot record",
            *CREATE_SNAPSHOT,
            errors="400, 401, 403, 500, 503",
        ),
        operation("DeleteSnapshot", "DELETE", _SNAPSHOTS, "202: an object with `id`", *NAME_IN_QUERY, errors=USUAL),
    ),
)

_VPCS = "v1/vpcs"
CREATE_VPC = (
    Parameter(
        "name",
        "string",
        required=True,
        need_noted=True,
        rules=(
            Rule("tenant-prefix", "begins with the tenant's name and a hyphen", _TENANT),
            Rule("default-is-tenant", "that of the default VPC is the tenant's name", _TENANT),
        ),
    ),
    Parameter(
        "blockIntraVpcComms",
        "boolean, blocks communication inside the VPC",
        required=False,
        need_noted=True,
        rules=(Rule("default-false", "false when left out", SERVICE_DECIDES),),
    ),
    Parameter(
        "isDefault",
        "boolean, makes it the default of the cluster",
        required=False,
        need_noted=True,
        rules=(
            Rule("default-false", "false when left out", SERVICE_DECIDES),
            Rule("one-per-cluster", "only one VPC per cluster can be default", SERVICE_DECIDES),
        ),
    ),
    Parameter("cluster", "string", required=True, need_noted=True),
)
VPC_FILTER = Parameter("cluster", "string", required=False, noted=True)

VPCS = Chapter(
    "VPCs",
    (
        operation("GetVpcs", "GET", _VPCS, "200: `items`, an array of VPC records", VPC_FILTER, errors=USUAL),
        operation("GetVpc", "GET", _VPCS, "200: a VPC record", *ID_IN_QUERY, errors=USUAL),
        operation("CreateVpc", "POST", _VPCS, "200: a VPC record", *CREATE_VPC, errors=USUAL),
        operation("DestroyVpc", "DELETE", _VPCS, "200: a VPC record", *ID_IN_QUERY, errors=USUAL),
    ),
)

LOGIN = (
    Parameter(
        "userNameOrEmailAddress",
        "string",
        required=True,
        noted=True,
        rules=(Rule("max-256", "at most 256 characters"),),
    ),
    Parameter("password", "string", required=True, noted=True, rules=(Rule("max-128", "at most 128 characters"),)),
    Parameter("rememberClient", "boolean", required=False, noted=True),
    Parameter("twoFactorVerificationCode", "string", required=False, noted=True),
)

LOGINS = Chapter(
    "Logins",
    (
        operation("Authenticate", "POST", "TokenAuth", "200: an access token and a refresh token", *LOGIN),
        operation(
            "RefreshToken",
            "POST",
            "TokenAuth",
            "200: an access token",
            Parameter("refreshToken", "string", required=True, noted=True),
        ),
    ),
)

OPERATIONS = (CLUSTERS, VIRTUAL_MACHINES, BARE_METAL, SNAPSHOTS, VPCS, LOGINS)
