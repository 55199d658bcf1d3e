"""Reasons while the operator works, waits, or cannot see the cloud: what they mean, and what to do."""

from __future__ import annotations

from gpucloud.kinds.explained.row import Row
from gpucloud.kinds.meta import Reason

PROGRESS = (
    Row(
        Reason.PENDING,
        "Ready Unknown (of an account + Reconciling)",
        "The operator has not looked at this object yet.",
        "If it stays for a minute, `kubectl gpucloud doctor` says whether an operator runs and watches this namespace.",
    ),
    Row(
        Reason.PAUSED,
        "Ready Unknown + Paused; event",
        "The annotation `gpucloud.dev/paused` pauses the object: nothing is created, switched or destroyed, deletion "
        "included. Ready stays as it was; it is Unknown where the spec was edited since, or nobody had looked yet.",
        "To continue, remove the annotation, or run `kubectl gpucloud resume KIND/NAME`.",
    ),
    Row(
        Reason.OBSERVE_ONLY,
        "Ready Unknown + Reconciling",
        "The operator runs with `--observe-only`; the message says what it would do now: a call, or letting a deleted "
        "object go. No deadline counts this.",
        "Restart the operator without the flag when you trust it. [More](../how-to/disaster-recovery.md#look-first).",
    ),
    Row(
        Reason.CREATING,
        "Ready False + Reconciling",
        "The VM is being bought, or comes up for the first time; a VPC or snapshot is being made.",
        "Wait; if a VM stays so for long, look at its boot log: `kubectl gpucloud logs NAME`. "
        "[More](../how-to/gpuvm.md#when-it-does-not-come-up).",
    ),
    Row(
        Reason.PROVISIONING,
        "Ready False + Reconciling",
        "The cloud is changing a VM that was up before, or a host.",
        "Wait. A host without an image (the message says so) waits for a requested reprovisioning.",
    ),
    Row(
        Reason.STARTING,
        "Ready False + Reconciling",
        "The VM is being started, as `spec.powerState` asks.",
        "Wait.",
    ),
    Row(
        Reason.STOPPING,
        "Ready False + Reconciling",
        "The VM is being stopped, as `spec.powerState` asks.",
        "Wait.",
    ),
    Row(
        Reason.RESTARTING,
        "Ready False + Reconciling",
        "A requested restart: stopped, then started.",
        "Wait; `status.lastHandledRestartAt` takes your value once it has been stopped.",
    ),
    Row(
        Reason.REBOOTING,
        "Ready False + Reconciling",
        "A requested reboot of a host: announced, accepted or under way, as `status.operation` says.",
        "Wait; `status.lastHandledRebootAt` takes your value once the outcome of the call is known.",
    ),
    Row(
        Reason.REPROVISIONING,
        "Ready False + Reconciling",
        "A requested reprovisioning of a host: announced, accepted or under way, as `status.operation` says.",
        "Wait; `status.lastHandledReprovisionAt` takes your value once the outcome of the call is known.",
    ),
    Row(
        Reason.DELETING,
        "Ready False + Reconciling",
        "The VM, VPC or snapshot is being destroyed, or is looked for where nothing was sent yet; the object is "
        "deleted when listings prove it gone.",
        "Wait.",
    ),
    Row(
        Reason.DRIFTED,
        "Ready False + Reconciling",
        "Somebody started or stopped the VM outside Kubernetes; the operator corrects it.",
        "To keep the other state, change `spec.powerState`.",
    ),
    Row(
        Reason.UNKNOWN_STATE,
        "Ready False + Reconciling",
        "The cloud reports a state of the VM or host that this version does not know.",
        "Wait; if it stays, ask the cloud's support what the state means.",
    ),
    Row(
        Reason.RUNNING,
        "Ready True",
        "The VM is on, as asked; the host is on, provisioned and OK.",
        "Nothing.",
    ),
    Row(
        Reason.POWERED_OFF,
        "Ready True",
        "The VM is off, as asked. Its disk is still billed.",
        "Nothing.",
    ),
    Row(
        Reason.AVAILABLE,
        "Ready True",
        "The VPC exists, as asked.",
        "Nothing.",
    ),
    Row(
        Reason.COMPLETED,
        "Ready True + Succeeded",
        "The snapshot has been taken and can be used.",
        "Nothing.",
    ),
    Row(
        Reason.CONNECTED,
        "Ready True",
        "The cloud accepts the account's credential. With `Restricted` beside it, some operations are forbidden.",
        "Nothing; if objects need what is forbidden, grant it in the cloud.",
    ),
    Row(
        Reason.SECRET_DELETING,
        "Ready True; event",
        "Somebody has deleted the account's Secret, which cannot be undone. The operator's finalizer keeps it, and "
        "`kubectl delete secret` waits, until nothing in the cloud needs it. It still serves what exists; nothing new is "
        "created with it.",
        "Create another Secret with a valid credential, and name it in `spec.secretRef` of the account: the old one is "
        "then gone within seconds. `kubectl gpucloud doctor` prints the commands. "
        "[More](../how-to/account.md#a-secret-was-deleted-by-mistake).",
    ),
    Row(
        Reason.WAITING_FOR_CAPACITY,
        "Ready False + Reconciling",
        "The cloud has no capacity for this configuration, or answers that it is unavailable; the GpuVM waits in line. No "
        "deadline counts this.",
        "Wait; or name other configurations, pools and clusters in `spec.placement.alternatives`. "
        "[More](../how-to/alternatives.md).",
    ),
    Row(
        Reason.SSH_KEYS_NOT_FOUND,
        "Ready False + Reconciling",
        "A Secret, ConfigMap or key named in `spec.sshKeysFrom` is not there, or is empty. Nothing is bought; no "
        "deadline counts this.",
        "Create the Secret, ConfigMap or key, as the message says; the VM follows within seconds. If the name in "
        "`spec.sshKeysFrom` is wrong, delete the object and create it again with the right one.",
    ),
    Row(
        Reason.NAMESPACE_TERMINATING,
        "Ready False + Reconciling",
        "The namespace is being deleted: nothing is created in it.",
        "Nothing; if the namespace stays, find out why [a deletion hangs](../how-to/account.md#a-deletion-hangs).",
    ),
    Row(
        Reason.RATE_LIMITED,
        "Ready False + Reconciling",
        "The cloud asks for fewer requests.",
        "Wait; if it is often so, lower `--cloud-qps`.",
    ),
    Row(
        Reason.DEPENDENCY_NOT_READY,
        "Ready False + Reconciling",
        "A GpuVpc, GpuVM or GpuSnapshot that the spec refers to is not there, or not ready. Nothing is created.",
        "Look at that object; this one goes on within a second of its being ready.",
    ),
    Row(
        Reason.ACCOUNT_NOT_READY,
        "Ready False, or Unknown once it was seen + Reconciling",
        "The GpuCloudAccount in use is not Ready, its Secret is being deleted or gone, or there is no account of the name "
        "in `spec.accountRef`. Ready Unknown: the status was lost, and the VM or snapshot is looked for with the "
        "operator's own account, for five minutes at most while that account answers.",
        "Look at that account, or create it; where its Secret is being deleted, name another one in `spec.secretRef` of "
        "the account. This object then goes on by itself. [More](../how-to/account.md#it-is-not-ready-what-now).",
    ),
    Row(
        Reason.API_UNAVAILABLE,
        "Ready Unknown or False + Reconciling",
        "The cloud does not answer, answers wrongly, or lists too slowly to order anything safely. The last known state "
        "stays in status.",
        "Wait; if it stays, look at the operator's log and the cloud's own status, and whether URL, proxy and authority "
        "are right. [More](../how-to/alerts.md#gpucloudcloudblind).",
    ),
    Row(
        Reason.IMPLAUSIBLE_LISTING,
        "Ready Unknown + Reconciling",
        "This VM, VPC, snapshot or host and many others vanished from a listing at once, which looks like an error of the "
        "cloud.",
        "If it is really gone, type the command in the message, which sets `gpucloud.dev/accept-absence`. "
        "[More](../how-to/disaster-recovery.md).",
    ),
)
