"""Reasons of accounts, references and hosts that cannot serve: what they mean, and what to do."""

from __future__ import annotations

from gpucloud.kinds.explained.row import Row
from gpucloud.kinds.meta import Reason

REFERENCES = (
    Row(
        Reason.NO_ACCOUNT,
        "Ready False, or Unknown once it was seen + Stalled",
        "There is no account to use: `spec.accountRef` names none, the namespace has no GpuCloudAccount called `default`, "
        "and the operator has no credential of its own that serves this namespace. Or: the status was lost, and the "
        "operator's own account, which does not serve this namespace, lists the VM or snapshot.",
        "Create the account's Secret: `kubectl create secret generic cloud-credential --namespace=NAMESPACE "
        "--from-file=apikey=FILE`. Then apply a GpuCloudAccount named `default`, with that Secret in `spec.secretRef.name`: "
        "the object goes on when it is Ready. One that used the operator's own account needs that one back. "
        "[More](../how-to/account.md#bring-a-credential).",
    ),
    Row(
        Reason.INVALID_REFERENCE,
        "Ready False + Stalled",
        "What the spec refers to exists but can never serve, for example a GpuVpc in another cluster. With the operator's "
        "own account also: a host by its id, and a VM, VPC, snapshot, custom image or volume that no object of the "
        "namespace stands for, and a file system that all VMs of that account share. Nothing is created or adopted.",
        "What is wrong in the spec is immutable: delete the object and create it corrected, as the message says, with a "
        "reference or an account of its own. Or the administrator sets `--own-account-sharing=Shared`.",
    ),
    Row(
        Reason.TENANT_MISMATCH,
        "Ready False (account) or Unknown + Stalled",
        "The credential shows another tenant than the one that the object belongs to, or none yet. Nothing is created or "
        "destroyed with it.",
        "Put a credential of the right tenant into the account's Secret. [More](../how-to/account.md#tenants).",
    ),
    Row(
        Reason.ENDPOINT_MISMATCH,
        "Ready Unknown + Stalled",
        "The object was ordered at another endpoint (`status.endpoint`) than the one that its account is at now, since "
        "another one was declared first, or the account was created again with another `spec.endpoint`. Nothing is "
        "created or destroyed there for it.",
        "Declare that endpoint first again (`--endpoint`). For an account that names an endpoint itself, do as its "
        "message says. [More](../how-to/account.md#which-cloud-endpoints).",
    ),
    Row(
        Reason.SOURCE_NOT_FOUND,
        "Ready False + Stalled",
        "The cloud has no VM under the name, cluster and VPC of which this snapshot is to be taken (`spec.vm`, or those "
        "of the GpuVM in `spec.vmRef`).",
        "Wait, if the VM is still to come: the snapshot is taken as soon as it is there; if the name is wrong, delete "
        "this object and create it again with the right one.",
    ),
    Row(
        Reason.NOT_FOUND,
        "Ready False + Stalled",
        "The cloud does not know what the order names (a snapshot, an image, a VM), or `spec.adoption` is `Required` and "
        "the cloud has nothing of that name, or no host of that id is allocated.",
        "Create in the cloud what the message names, and the order is repeated within minutes; or delete the object and "
        "create it corrected. Where it is to be adopted, set `spec.adoption: IfExists`.",
        of_kind={
            "GpuHost": "have the host allocated: the operator keeps looking. If id or cluster is wrong, delete the object and "
            "create it again.",
        },
    ),
    Row(
        Reason.MISMATCH,
        "Ready False + Stalled",
        "It exists in the cloud with other settings than the spec's. The message names them. Nothing is changed. Of a "
        "GpuVM also: its spec was edited, and the VM is [not replaced](../how-to/replace.md#what-does-not-replace-a-vm).",
        "As the message says; or delete the object (an adopted resource is retained, unless `spec.deletion.policy` is "
        "`Delete`: set `Retain` first) and create it with the settings that the cloud has. "
        "[More](../how-to/adopt.md#it-is-not-adopted-why).",
    ),
    Row(
        Reason.NO_ADDRESS,
        "PublicationFailed",
        "The cloud reports no address of the VM that the Service of `spec.connection` can lead to.",
        "Wait for one, or set `spec.connection.service.address` to the other one.",
    ),
    Row(
        Reason.VPC_LOST,
        "Ready Unknown + Reconciling, then False + Stalled",
        "The VPC was deleted outside Kubernetes. Ready is Unknown until a second look confirms that. It is not "
        "recreated automatically.",
        "Delete and create the object to get a new VPC.",
    ),
    Row(
        Reason.SNAPSHOT_LOST,
        "Ready Unknown + Reconciling, then False + Stalled",
        "The snapshot was deleted outside Kubernetes, or with its VM (`spec.deletion.snapshots: Delete`). Ready is "
        "Unknown until a second look confirms that. It is not recreated automatically.",
        "Delete and create the object to get a new snapshot.",
    ),
    Row(
        Reason.HOST_OFF,
        "Ready False + Reconciling",
        "The host is powered off. The operator powers nothing on by itself.",
        "Wait, or request a reboot; if it stays off, ask the cloud's support.",
    ),
    Row(
        Reason.HOST_FAILED,
        "Ready False + Stalled",
        "The cloud reports the host as faulty.",
        "Request a reboot or a reprovisioning, or ask the cloud's support.",
    ),
    Row(
        Reason.HOST_LOST,
        "Ready Unknown + Reconciling, then False + Stalled",
        "The host is no longer allocated to the tenant. Ready is Unknown until a second look confirms that.",
        "Delete the object, or have the host allocated again.",
    ),
    Row(
        Reason.SECRET_NOT_FOUND,
        "Ready False + Reconciling",
        "The Secret that `spec.secretRef` names is not there; of a GpuHost, the Secret or key of "
        "`spec.reprovision.cloudInitSecretRef`.",
        "Create the Secret in the object's namespace, or grant the operator the right to read it; it is read again within "
        "seconds.",
    ),
    Row(
        Reason.INVALID_SECRET,
        "Ready False + Stalled",
        "The Secret holds neither `apikey` nor `username` with `password`, or a value that cannot be one. Of a GpuHost: "
        "the cloud-init is empty, larger than 64 KiB, or cannot be read.",
        "Correct the Secret; it is read again within seconds. The message names keys, never values.",
        of_kind={
            "GpuHost": "correct the Secret of `cloudInitSecretRef`. It is read every 5 s, until the request is ten "
            "minutes old.",
        },
    ),
    Row(
        Reason.UNKNOWN_ENDPOINT,
        "Ready False + Stalled",
        "`spec.endpoint` is no endpoint that the administrator declared.",
        "Delete the account and create it with a declared name, or have the endpoint declared (`--endpoint`).",
    ),
)
