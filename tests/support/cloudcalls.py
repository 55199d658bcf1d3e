"""Every operation of the specification: what the client sends for the fullest and the barest arguments."""

from gpucloud.cloud import CreateServer

VM = "/api/v1/servers/virtual/"
METAL = "/api/v1/servers/metal/"
SNAP = "/api/v1/servers/snapshots/"
VPC = "/api/v1/vpcs/"
WHOLE = {"id": "vm 1", "namespace": "acme", "cluster": "Msc1"}
WHOLE_QUERY = {"Id": "vm 1", "Namespace": "acme", "Cluster": "Msc1"}
KEYED = {"id": "bm-128", "cluster": "Msc1"}
KEYED_QUERY = {"Id": "bm-128", "Cluster": "Msc1"}
BARE_VM = {"vpc": "acme", "configuration": "A100_40GB_PCIe_1x", "cluster": "Msc1", "ssh_keys": ("ssh-ed25519 AAAA a",)}
BARE_BODY = {**BARE_VM, "ssh_keys": ["ssh-ed25519 AAAA a"]}
FULL_VM = BARE_VM | {
    "name": "n" * 52,
    "rpool": "on-demand",
    "snapshot_name": "s1",
    "tenant_custom_image_file_name": "img.qcow2",
    "operating_system_image": "Ubuntu 22.04.4 LTS",
    "personal_storage_mount_path": "/home/ubuntu/personal",
    "tenant_shared_additional_storage": "/home/ubuntu/tenant-shared",
    "persist_storage": False,
    "direct_storage_mount_path": "/home/ubuntu/direct-attached",
    "block_storage_names": ("b1", "b2"),
    "root_disk_size": 500,
    "selected_node": "node-7",
}
FULL_BODY = BARE_BODY | {
    "name": "n" * 52,
    "rpool": "on-demand",
    "snapshotName": "s1",
    "tenantCustomImageFileName": "img.qcow2",
    "operatingSystemImage": "Ubuntu 22.04.4 LTS",
    "personalStorageMountPath": "/home/ubuntu/personal",
    "tenantSharedAdditionalStorage": "/home/ubuntu/tenant-shared",
    "persistStorage": False,
    "directStorageMountPath": "/home/ubuntu/direct-attached",
    "blockStorageNames": ["b1", "b2"],
    "rootDiskSize": 500,
    "selectedNode": "node-7",
}
# method of the client, its arguments, HTTP method, path, query, body
OPERATIONS = [
    ("get_all_clusters", {}, "GET", "/api/v1/clusters/GetAll", {}, None),
    ("get_servers", {}, "GET", VM + "GetServers", {}, None),
    ("get_servers", {"cluster": "Msc1"}, "GET", VM + "GetServers", {"Cluster": "Msc1"}, None),
    ("get_server", WHOLE, "GET", VM + "GetServer", WHOLE_QUERY, None),
    ("create_server", BARE_VM, "POST", VM + "CreateServer", {}, BARE_BODY),
    ("create_server", FULL_VM, "POST", VM + "CreateServer", {}, FULL_BODY),
    ("start_server", WHOLE, "POST", VM + "StartServer", {}, WHOLE),
    ("stop_server", WHOLE, "POST", VM + "StopServer", {}, WHOLE),
    ("destroy_server", WHOLE, "DELETE", VM + "DestroyServer", WHOLE_QUERY, None),
    (
        "destroy_server",
        WHOLE | {"delete_snapshots": True},
        "DELETE",
        VM + "DestroyServer",
        WHOLE_QUERY | {"DeleteSnapshots": "true"},
        None,
    ),
    (
        "destroy_server",
        WHOLE | {"delete_snapshots": False},
        "DELETE",
        VM + "DestroyServer",
        WHOLE_QUERY | {"DeleteSnapshots": "false"},
        None,
    ),
    ("get_configurations", {}, "GET", VM + "GetConfigurations", {}, None),
    ("get_availability", {"cluster": "Msc1"}, "GET", VM + "GetAvailability", {"cluster": "Msc1"}, None),
    (
        "get_availability",
        {"cluster": "Msc1", "resource_pool": "on-demand", "report_nodes": False},
        "GET",
        VM + "GetAvailability",
        {"cluster": "Msc1", "resourcePool": "on-demand", "reportNodes": "false"},
        None,
    ),
    ("get_boot_logs", WHOLE, "GET", VM + "GetVirtualMachineBootLogs", WHOLE_QUERY | {"Limit": "2000"}, None),
    (
        "get_boot_logs",
        WHOLE | {"limit": 10000},
        "GET",
        VM + "GetVirtualMachineBootLogs",
        WHOLE_QUERY | {"Limit": "10000"},
        None,
    ),
    ("get_host", KEYED, "GET", METAL + "GetHost", KEYED_QUERY, None),
    ("get_hosts", {}, "GET", METAL + "GetHosts", {}, None),
    ("get_hosts", {"cluster": "Msc1"}, "GET", METAL + "GetHosts", {"Cluster": "Msc1"}, None),
    ("reboot_host", KEYED, "POST", METAL + "RebootHost", {}, KEYED),
    ("reprovision_host", KEYED, "POST", METAL + "ReprovisionHost", {}, KEYED),
    (
        "reprovision_host",
        KEYED | {"image_url": "https://i/x", "image_checksum": "https://i/x.sum", "cloud_init_base64": "I2Nsb3Vk"},
        "POST",
        METAL + "ReprovisionHost",
        {},
        KEYED | {"imageUrl": "https://i/x", "imageChecksum": "https://i/x.sum", "cloudInitBase64": "I2Nsb3Vk"},
    ),
    ("get_snapshots", {}, "GET", SNAP + "GetSnapshots", {}, None),
    ("get_snapshots", {"cluster": "Msc1"}, "GET", SNAP + "GetSnapshots", {"Cluster": "Msc1"}, None),
    ("get_snapshot", WHOLE, "GET", SNAP + "GetSnapshot", WHOLE_QUERY, None),
    (
        "create_snapshot",
        {"namespace": "acme", "cluster": "Msc1"},
        "POST",
        SNAP + "CreateSnapshot",
        {},
        {"namespace": "acme", "cluster": "Msc1"},
    ),
    (
        "create_snapshot",
        {"namespace": "acme", "cluster": "Msc1", "name": "s1", "source_vm_name": "vm-1"},
        "POST",
        SNAP + "CreateSnapshot",
        {},
        {"namespace": "acme", "cluster": "Msc1", "name": "s1", "sourceVMName": "vm-1"},
    ),
    ("delete_snapshot", WHOLE, "DELETE", SNAP + "DeleteSnapshot", WHOLE_QUERY, None),
    ("get_vpcs", {}, "GET", VPC + "GetVpcs", {}, None),
    ("get_vpcs", {"cluster": "Msc1"}, "GET", VPC + "GetVpcs", {"cluster": "Msc1"}, None),
    ("get_vpc", KEYED, "GET", VPC + "GetVpc", KEYED_QUERY, None),
    (
        "create_vpc",
        {"name": "acme-train", "cluster": "Msc1"},
        "POST",
        VPC + "CreateVpc",
        {},
        {"name": "acme-train", "cluster": "Msc1"},
    ),
    (
        "create_vpc",
        {"name": "acme-train", "cluster": "Msc1", "block_intra_vpc_comms": True, "is_default": False},
        "POST",
        VPC + "CreateVpc",
        {},
        {"name": "acme-train", "cluster": "Msc1", "blockIntraVpcComms": True, "isDefault": False},
    ),
    ("destroy_vpc", KEYED, "DELETE", VPC + "DestroyVpc", KEYED_QUERY, None),
    (
        "authenticate",
        {"username": "ann", "password": "pw-0000"},
        "POST",
        "/api/TokenAuth/Authenticate",
        {},
        {"userNameOrEmailAddress": "ann", "password": "pw-0000"},
    ),
    (
        "authenticate",
        {"username": "ann", "password": "pw-0000", "remember_client": True, "two_factor_verification_code": "123456"},
        "POST",
        "/api/TokenAuth/Authenticate",
        {},
        {
            "userNameOrEmailAddress": "ann",
            "password": "pw-0000",
            "rememberClient": True,
            "twoFactorVerificationCode": "123456",
        },
    ),
    (
        "refresh_token",
        {"refresh_token": "r+/= 1"},
        "POST",
        "/api/TokenAuth/RefreshToken",
        {"refreshToken": "r+/= 1"},
        None,
    ),
]
UNSIGNED = {"authenticate", "refresh_token"}
BY_QUERY = {row[0] for row in OPERATIONS if row[5] is None}
ANY_ANSWER = {"items": [], "accessToken": "t"}  # enough for every operation but the bare list of names


def invoke(client, name, arguments):
    if name == "create_server":
        return client.create_server(CreateServer(**arguments))
    return getattr(client, name)(**arguments)


def operation_of(name):
    """The specification's name of a method: the end of its path."""
    return next(row[3].rpartition("/")[2] for row in OPERATIONS if row[0] == name)


def parameter_of(name, argument):
    """The id of a parameter that is spelt alike on both sides, but for the capital that it has in most queries."""
    query = next(row[4] for row in OPERATIONS if row[0] == name)
    return f"{operation_of(name)}.{argument.title() if argument.title() in query else argument}"
