"""``spec.connection`` of a GpuVM, and its record in status: how other workloads of the namespace reach the VM."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from gpucloud.kinds.markers import CEL, list_map, rules
from gpucloud.kinds.model import Model, Time

SSH_PORT = 22  # field notes: a VM is ready when its port 22 answers
DEFAULT_USER = "ubuntu"  # field notes: the mounts lie in /home/ubuntu


class AddressChoice(StrEnum):
    """Which address of the VM the Service leads to."""

    PRIVATE = "Private"
    PUBLIC = "Public"


class PortProtocol(StrEnum):
    """Protocol of a port."""

    TCP = "TCP"
    UDP = "UDP"
    SCTP = "SCTP"


class ConnectionPort(Model):
    """A port of the Service. The VM listens on the same number."""

    name: Annotated[
        str,
        Field(min_length=1, max_length=63, description="Name of the port, for example metrics."),
        CEL(
            "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
            "Not a name of a port: use lower-case letters, digits and '-', and start and end with a letter or digit.",
        ),
    ]
    port: Annotated[int, Field(ge=1, le=65535, description="Number of the port, at the Service and at the VM.")]
    protocol: Annotated[PortProtocol | None, Field(description="TCP, UDP or SCTP; TCP when not set.")] = None


class ConnectionService(Model):
    """A Service of this namespace that leads to the VM."""

    name: Annotated[
        str,
        Field(min_length=1, max_length=63, description="Name of the Service, and of its EndpointSlice."),
        CEL(
            "self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
            "Not a name of a Service: use lower-case letters, digits and '-', start with a letter, and end with a letter or "
            "digit.",
        ),
    ]
    address: Annotated[AddressChoice, Field(description="The VM's address that the Service leads to: Private or Public.")] = (
        AddressChoice.PRIVATE
    )
    ports: Annotated[
        tuple[ConnectionPort, ...],
        Field(min_length=1, max_length=16, description="Ports of the Service."),
        list_map("name"),
        CEL(
            "self.all(a, self.filter(b, a.port == b.port && (has(a.protocol) ? a.protocol : 'TCP') == "
            "(has(b.protocol) ? b.protocol : 'TCP')).size() == 1)",
            "Two ports have the same number and protocol: remove one of them, or change its port.",
        ),
    ]


class Connection(Model):
    """What other workloads get to reach the VM while it runs."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            CEL(
                "has(self.configMapName) || has(self.service)",
                "Nothing is published: set spec.connection.configMapName or spec.connection.service, or remove "
                "spec.connection.",
                reason="FieldValueRequired",
            )
        )
    )

    config_map_name: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=253,
            description="ConfigMap of this namespace to create, with the keys host, privateAddress, port and user.",
        ),
        CEL(
            "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",
            "Not a name of a ConfigMap: use lower-case letters, digits, '-' and '.', and start and end with a letter or digit.",
        ),
    ] = None
    user: Annotated[
        str,
        Field(min_length=1, max_length=32, description="Login user of the VM's image, for the ConfigMap."),
        CEL(
            "self.matches('^[a-z_][a-z0-9_-]*$')",
            "Not a login user: use lower-case letters, digits, '-' and '_', and start with a letter or '_'.",
        ),
    ] = DEFAULT_USER
    service: Annotated[
        ConnectionService | None, Field(description="Service of this namespace to create, with an EndpointSlice to the VM.")
    ] = None


class PublishedConnection(Model):
    """What is published, or about to be. Written before, and cleared after it was withdrawn."""

    config_map: Annotated[str | None, Field(max_length=253, description="ConfigMap that holds the VM's addresses.")] = None
    service: Annotated[str | None, Field(max_length=63, description="Service, and EndpointSlice, that lead to the VM.")] = None
    host: Annotated[
        str | None, Field(max_length=45, description="The VM's public address; the private one if there is no other.")
    ] = None
    private_address: Annotated[str | None, Field(max_length=45, description="The VM's private address.")] = None
    address: Annotated[str | None, Field(max_length=45, description="The address that the EndpointSlice holds.")] = None
    withdrawing_since: Annotated[
        Time | None, Field(description="When the withdrawal began. A stop or destruction waits at most 60 seconds for it.")
    ] = None
