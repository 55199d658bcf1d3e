"""GpuHost (``ghost``): a bare metal host that is allocated already. It is observed, rebooted and reprovisioned on request."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from gpucloud.kinds.common import AccountedStatus, CloudSpec
from gpucloud.kinds.markers import CEL, IMMUTABLE
from gpucloud.kinds.model import Model, Time

KIND = "GpuHost"
PLURAL = "gpuhosts"
MAX_OPERATION_MESSAGE = 1024

# The apiserver calls a wrong value forbidden, since it would print an "invalid" one: a URL may hold a token.
Url = Annotated[
    str,
    Field(min_length=1, max_length=2048),
    CEL(
        "self.matches('^https?://[^/?#\\\\s]+([/?#]\\\\S*)?$')",
        "Not a URL that the cloud can fetch: it must start with http:// or https:// and a host, and hold no space.",
        reason="FieldValueForbidden",
    ),
    CEL(
        "!self.matches('^[a-z]+://[^/?#]*@')",
        "A URL with a user or password in it is refused: everybody who may read this object would see them. Use a URL that "
        "needs none.",
        reason="FieldValueForbidden",
    ),
]


class SecretKey(Model):
    """One key of a Secret in the object's own namespace."""

    name: Annotated[
        str,
        Field(min_length=1, max_length=253, description="Name of a Secret in this namespace."),
        CEL(
            "self.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')",
            "Not a name of a Secret: use lower-case letters, digits, '-' and '.', and start and end with a letter or digit. "
            "Other namespaces cannot be named.",
            reason="FieldValueForbidden",
        ),
    ]
    key: Annotated[
        str,
        Field(min_length=1, max_length=253, description="Key of the Secret that holds the cloud-init YAML."),
        CEL(
            "self.matches('^[A-Za-z0-9._-]+$')",
            "Not a key of a Secret: use letters, digits, '-', '_' and '.'.",
            reason="FieldValueForbidden",  # which keeps the apiserver from repeating what may be a secret pasted here
        ),
    ]


class Reprovision(Model):
    """What a requested reprovisioning installs."""

    image_url: Annotated[Url | None, Field(description="URL of the image. When not set the cloud chooses.")] = None
    image_checksum_url: Annotated[Url | None, Field(description="URL of the checksum of the image.")] = None
    cloud_init_secret_ref: Annotated[
        SecretKey | None,
        Field(description="Key of a Secret with the cloud-init YAML, at most 64 KiB. Read when a reprovisioning is requested."),
    ] = None


class GpuHostSpec(CloudSpec):
    """The host as its owner wants it. The operator never writes here."""

    cluster: Annotated[
        str,
        Field(min_length=1, max_length=253, description="Cluster of the cloud in which the host is allocated."),
        IMMUTABLE,
    ]
    host_id: Annotated[
        str,
        Field(min_length=1, max_length=253, description="Id of the host in the cloud, for example bm-128."),
        CEL("self.matches('^[!-~]+$')", "Not an id of a host: use the id as the cloud lists it, without spaces."),
        IMMUTABLE,
    ]
    reprovision: Annotated[
        Reprovision | None,
        Field(
            description="What a reprovisioning installs. Used only when the annotation gpucloud.dev/reprovision-requested-at "
            "requests one, which wipes the host; changing it does nothing by itself."
        ),
    ] = None


class HostVerb(StrEnum):
    """What a person may request."""

    REBOOT = "Reboot"
    REPROVISION = "Reprovision"


class HostOutcome(StrEnum):
    """What became of a request. It is sent at most once, whatever the outcome."""

    ANNOUNCED = "Announced"
    ACCEPTED = "Accepted"
    UNCLEAR = "Unclear"
    REFUSED = "Refused"
    IN_PROGRESS = "InProgress"
    DONE = "Done"


class HostOperation(Model):
    """The last requested reboot or reprovisioning. Written before it is sent, so that a new process does not send it again."""

    verb: Annotated[HostVerb, Field(description="Reboot or Reprovision.")]
    generation: Annotated[int, Field(ge=0, description="Generation of the spec that it was announced with.")]
    id: Annotated[str, Field(max_length=253, description="Value of the annotation that requests it.")]
    at: Annotated[Time, Field(description="When it was announced.")]
    outcome: Annotated[
        HostOutcome,
        Field(
            description="Announced: sent, or about to be. Accepted: the cloud took it. InProgress: the cloud shows it. "
            "Done: the host was seen ready after it. Refused: not carried out. Unclear: no clear answer came."
        ),
    ] = HostOutcome.ANNOUNCED
    message: Annotated[
        str | None,
        Field(max_length=MAX_OPERATION_MESSAGE, description="Why it was refused, or is unclear."),
    ] = None


class GpuHostStatus(AccountedStatus):
    """What the operator observed. Rebuilt whole in every write."""

    host_id: Annotated[str | None, Field(max_length=253, description="Id of the host, once it has been seen.")] = None
    cluster: Annotated[str | None, Field(max_length=253, description="Cluster that the host is in.")] = None
    node_type: Annotated[str | None, Field(max_length=253, description="Node type of the host.")] = None
    image: Annotated[
        str | None,
        Field(max_length=253, description="Image that the host was provisioned with. Of a URL without its query."),
    ] = None
    private_ip: Annotated[str | None, Field(max_length=253, description="Private IP address.")] = None
    public_ip: Annotated[str | None, Field(max_length=253, description="Public IP address.")] = None
    provisioned_hostname: Annotated[str | None, Field(max_length=253, description="Host name that the cloud assigned.")] = None
    operational_status: Annotated[
        str | None, Field(max_length=253, description="The cloud's own word for the host's health. Informative.")
    ] = None
    powered_on: Annotated[bool | None, Field(description="Whether the host is powered on.")] = None
    provisioning_state: Annotated[
        str | None,
        Field(max_length=253, description="The cloud's own word for how far the host is provisioned. Informative."),
    ] = None
    operation: Annotated[HostOperation | None, Field(description="The last requested reboot or reprovisioning.")] = None
    last_announced_reboot_at: Annotated[
        str | None,
        Field(max_length=253, description="The last request for a reboot that was announced. No earlier one is sent."),
    ] = None
    last_announced_reprovision_at: Annotated[
        str | None,
        Field(max_length=253, description="The last request for a reprovisioning that was announced. No earlier one is sent."),
    ] = None
    last_handled_reboot_at: Annotated[
        str | None, Field(max_length=253, description="Value of gpucloud.dev/reboot-requested-at that was answered last.")
    ] = None
    last_handled_reprovision_at: Annotated[
        str | None, Field(max_length=253, description="Value of gpucloud.dev/reprovision-requested-at that was answered last.")
    ] = None
