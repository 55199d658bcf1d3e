"""What of ``spec.connection`` of a GpuVM is accepted, refused and free."""

from __future__ import annotations

from support.crdcases.cases import Edit

PORT = {"name": "metrics", "port": 9400}
SERVICE = {"name": "train", "ports": [PORT]}


def service(**fields):
    return {"connection": {"service": {**SERVICE, **fields}}}


def ports(*items):
    return service(ports=list(items))


CONNECTION_ACCEPTED = [
    ("a ConfigMap only", {"connection": {"configMapName": "train.connection"}}),
    ("a Service only", service()),
    ("both, with another user", {"connection": {"configMapName": "train", "user": "root", "service": SERVICE}}),
    ("the public address", service(address="Public")),
    ("one port by two protocols", ports({"name": "a", "port": 53}, {"name": "b", "port": 53, "protocol": "UDP"})),
    ("the first and the last port", ports({"name": "a", "port": 1}, {"name": "b", "port": 65535, "protocol": "SCTP"})),
    ("as many ports as may be", ports(*({"name": f"p{n}", "port": 1 + n} for n in range(16)))),
    ("the longest name of a Service", service(name="a" * 63)),
]
WHERE = "spec.connection.service"
CONNECTION_REFUSED = [
    ("nothing to publish", {"connection": {}}, "spec.connection", "set spec.connection.configMapName or"),
    ("a user alone publishes nothing", {"connection": {"user": "root"}}, "spec.connection", "Nothing is published"),
    ("a ConfigMap in capitals", {"connection": {"configMapName": "Train"}}, "spec.connection.configMapName", "lower-case"),
    ("a ConfigMap with two dots", {"connection": {"configMapName": "a..b"}}, "spec.connection.configMapName", "Not a name"),
    ("a ConfigMap elsewhere", {"connection": {"configMapName": "a/b"}}, "spec.connection.configMapName", "Not a name"),
    ("too long a name of a ConfigMap", {"connection": {"configMapName": "a" * 254}}, "spec.connection.configMapName", "253"),
    ("a user with a space", {"connection": {"configMapName": "a", "user": "a b"}}, "spec.connection.user", "Not a login user"),
    ("a Service without a name", service(name=None), f"{WHERE}.name", "Required value"),
    ("a Service that starts with a digit", service(name="1a"), f"{WHERE}.name", "start with a letter"),
    ("a dot in the name of a Service", service(name="a.b"), f"{WHERE}.name", "Not a name of a Service"),
    ("too long a name of a Service", service(name="a" * 64), f"{WHERE}.name", "may not be more than 63"),
    ("an unknown address", service(address="Both"), f"{WHERE}.address", '"Private", "Public"'),
    ("no port", ports(), f"{WHERE}.ports", "at least 1 items"),
    ("too many ports", ports(*({"name": f"p{n}", "port": 1 + n} for n in range(17))), f"{WHERE}.ports", "at most 16 items"),
    ("port 0", ports({"name": "a", "port": 0}), f"{WHERE}.ports[0].port", "greater than or equal to 1"),
    ("port 65536", ports({"name": "a", "port": 65536}), f"{WHERE}.ports[0].port", "less than or equal to 65535"),
    ("a port by name", ports({"name": "a", "port": "http"}), f"{WHERE}.ports[0].port", "must be of type integer"),
    ("a port without a name", ports({"port": 1}), f"{WHERE}.ports[0].name", "Required value"),
    ("a name of a port in capitals", ports({"name": "A", "port": 1}), f"{WHERE}.ports[0].name", "Not a name of a port"),
    ("an unknown protocol", ports({**PORT, "protocol": "HTTP"}), f"{WHERE}.ports[0].protocol", '"TCP", "UDP", "SCTP"'),
    ("one name twice", ports(PORT, {**PORT, "port": 1}), f"{WHERE}.ports[1]", "Duplicate value"),
    ("one port twice", ports(PORT, {**PORT, "name": "b"}), f"{WHERE}.ports", "the same number and protocol"),
    ("one port twice, once by default", ports(PORT, {"name": "b", "port": 9400, "protocol": "TCP"}), f"{WHERE}.ports",
     "remove one of them"),
]  # fmt: skip
CONNECTION_FREE = [
    Edit("connection", {"configMapName": "a"}, {"service": SERVICE}),
    Edit("connection.configMapName", "a", "b", service()),
    Edit("connection.user", "root", "ubuntu", service()),
    Edit("connection.service", SERVICE, {**SERVICE, "address": "Public"}, {"connection": {"configMapName": "a"}}),
    Edit("connection.service.name", "train", "other", service()),
    Edit("connection.service.address", "Public", "Private", service()),
    Edit("connection.service.ports", [PORT], [PORT, {"name": "api", "port": 8443}], service()),
]
CONNECTION_REQUIRED = {"connection.service.name", "connection.service.ports"}
