"""Reasons that need a person: what they mean, and what to do."""

from __future__ import annotations

from gpucloud.kinds.explained.row import Row
from gpucloud.kinds.meta import Reason

TROUBLE = (
    Row(
        Reason.INVALID_SPEC,
        "Ready False, or Unknown once it was seen + Stalled",
        "The spec was stored under another version of the CRD and cannot be read; or the cloud refuses to list where the "
        "object would be (an unknown cluster); or the spec names another cluster, name or VPC than the one that was "
        "ordered. Or a cluster in spec.placement.alternatives does not exist.",
        "Correct the fields that the message names, or set them back; for an immutable one delete the object, which "
        "destroys what was made for it unless `spec.deletion.policy` is `Retain`, and create it again. If the cloud only "
        "fails to list the cluster for a while, wait, or ask its support: do not delete the object.",
    ),
    Row(
        Reason.INVALID_SSH_KEYS,
        "Ready False + Stalled",
        "What `spec.sshKeysFrom` names holds no public key, or a private one. Nothing is bought.",
        "Correct the Secret or ConfigMap, which is read again every 5 s, and replace a key pair whose private key was "
        "stored there. [More](../how-to/gpuvm.md#ssh-keys-from-a-secret-or-configmap).",
    ),
    Row(
        Reason.REJECTED,
        "Ready False + Stalled",
        "The cloud refuses the request; its words are in the message. Of a GpuHost: a requested reboot or reprovisioning "
        "was not carried out, and is not sent again; the cloud may accept it in another state of the host (422).",
        "Delete the object and create it corrected, since the fields are immutable; or try it again, if the cloud was "
        "wrong: `kubectl gpucloud retry KIND/NAME`. That sets `gpucloud.dev/reconcile-requested-at`. If you do not want "
        "it any more, only delete it: `kubectl delete KIND/NAME`.",
        of_kind={
            "GpuSnapshot": "read the cloud's words: it takes snapshots only of VMs in certain states. Then try it "
            "again: `kubectl "
            "gpucloud retry gsnap/NAME`.",
            "GpuHost": "correct what the message names, then set the annotation to the present time, or remove it: the request "
            "was not carried out.",
        },
    ),
    Row(
        Reason.CREDENTIALS_REFUSED,
        "Ready False + Stalled",
        "The cloud does not accept the key or login.",
        "Update the account's Secret in place, or the operator's own credential; the operator reads it within a minute. "
        "[More](../how-to/account.md#change-the-key).",
    ),
    Row(
        Reason.PERMISSION_DENIED,
        "Ready False + Stalled",
        "The credential is valid but lacks a permission.",
        "Grant the credential in the cloud what the message names; it is tried again every 5 minutes.",
        of_kind={
            "GpuVpc": "grant it, or name the VPC in `spec.vpc` of the VMs in place of `spec.vpcRef`.",
        },
    ),
    Row(
        Reason.CONFLICT,
        "Ready False + Stalled",
        "The name is taken by a VM, VPC or snapshot that is not this object's, or another object stands for the same one. "
        "Of a GpuHost: another GpuHost stands for the host.",
        "Choose another name (delete this object, which destroys nothing, and create it again), or "
        "[adopt](../how-to/adopt.md) it (`spec.adoption`). Or free the name: destroy the VM, VPC or snapshot of that name "
        "in the cloud if it is yours, or delete the object that the message names together with its resource. What was "
        "never created is then created by itself, and what the cloud refused for the name is tried every 5 minutes while "
        "listings lack it. Where the message says that it may be your VM, see whose it is: it is billed.",
        of_kind={
            "GpuHost": "delete one of the two GpuHosts; the host stays as it is.",
        },
    ),
    Row(
        Reason.POSSIBLE_DUPLICATE,
        "Ready False + Stalled",
        "A VM made for an earlier object of this name exists, unused; or one of the name to adopt is in another VPC "
        "or cluster; or the status was lost, and a VM of its name is in another VPC or cluster. Nothing is bought, "
        "and no VM is replaced.",
        "Destroy that VM in the cloud; or delete this object, and apply in its place what `kubectl gpucloud adopt NAME` "
        "prints (beside that one it buys its own); or set `gpucloud.dev/buy-anyway`. Where the VM is to be replaced, put "
        "the old value back instead, or set that annotation to destroy it all the same.",
    ),
    Row(
        Reason.AMBIGUOUS,
        "Ready False + Stalled",
        "The cloud lists several of this name; or it lists the chosen name of an order that had no clear answer, so "
        "nobody can tell whose it is; or it lists several hosts of one id. Nothing is done to any.",
        "Remove the surplus, or what bears the name, by hand in the cloud; or delete the object with "
        "`spec.deletion.policy: Retain`.",
        of_kind={
            "GpuHost": "ask the cloud's support, who can say which of the hosts is meant.",
        },
    ),
    Row(
        Reason.CREATE_FAILED,
        "Ready False + Stalled",
        "The cloud reports CREATE_FAILED. It may still be billed, and the operator does not destroy it.",
        "Look at the boot log (`kubectl gpucloud logs NAME`), ask the cloud's support, or delete the object, which "
        "destroys the VM; until then it may be billed.",
    ),
    Row(
        Reason.VM_FAILED,
        "Ready False + Stalled",
        "The cloud reports FAILED. The VM may still be billed. It is destroyed only where `spec.onLoss` is `Recreate`, or "
        "when the object is deleted.",
        "Look at the boot log (`kubectl gpucloud logs NAME`), ask the cloud's support, or delete the object, which "
        "destroys the VM; until then it may be billed.",
    ),
    Row(
        Reason.ADMIN_WAIT,
        "Ready False + Stalled",
        "The cloud reports ADMIN_WAIT: its people must act.",
        "Ask the cloud's support, or delete the object, which destroys the VM; until then it may be billed.",
    ),
    Row(
        Reason.ORDER_OVERDUE,
        "Ready False + Stalled",
        "The cloud accepted the order repeatedly, and does not list what was ordered; or it accepted it under another id "
        "or place. Nothing more is ordered.",
        "Ask the cloud's support, since an accepted order may be billed; or order again: `kubectl gpucloud retry "
        "KIND/NAME`. That sets `gpucloud.dev/reconcile-requested-at`.",
    ),
    Row(
        Reason.VM_LOST,
        "Ready Unknown + Reconciling, then False + Stalled",
        "The VM was deleted outside Kubernetes. Ready is Unknown until a second look confirms that. It is recreated only "
        "where `spec.onLoss` is `Recreate`.",
        "For a new VM set `spec.onLoss: Recreate`, or delete the object and create it again. [More](../how-to/on-loss.md).",
    ),
    Row(
        Reason.API_ERROR,
        "Ready False + Reconciling, later Stalled",
        "A call failed with an error that explains nothing (5xx, a lost answer, a redirect). The operator first looks "
        "whether it was carried out. Stalled after five failures in a row. Of a requested reboot or reprovisioning: it is "
        "never sent again, and Stalled when no listing has shown it within `--create-grace-seconds`.",
        "Read the message: it is tried again every 5 minutes at the latest; if it stays, ask the cloud's support. A "
        "message about redirects is for your administrator.",
        of_kind={
            "GpuHost": "look at the host. If the request was not carried out, set the annotation to the present time; "
            "else remove it.",
        },
    ),
    Row(
        Reason.PROGRESS_DEADLINE_EXCEEDED,
        "Ready False + Stalled",
        "Not Ready within `spec.progressDeadlineSeconds`. The operator keeps trying, and the object turns Ready if that "
        "succeeds.",
        "Wait, raise `spec.progressDeadlineSeconds`, or delete the object, which destroys what it ordered unless "
        "`spec.deletion.policy` is `Retain`. The message ends with what the operator last waited for.",
    ),
    Row(
        Reason.TAKING_FINAL_SNAPSHOT,
        "Ready False + Reconciling",
        "The VM is being deleted, and `spec.deletion.finalSnapshot` is `Required`: nothing is destroyed before a listing "
        "shows the [final snapshot](../how-to/final-snapshot.md) ready.",
        "Wait for the GpuSnapshot that the message names. To destroy the VM without it, set `spec.deletion.finalSnapshot: "
        "None`. [More](../how-to/final-snapshot.md).",
    ),
    Row(
        Reason.RECREATING,
        "Ready False + Reconciling",
        "`spec.onLoss` is `Recreate`: a new VM is created in place of one that was lost, or that has failed and is "
        "destroyed first.",
        "Nothing.",
    ),
    Row(
        Reason.REPLACING,
        "Ready False + Reconciling or Stalled",
        "`spec.replacePolicy` is `Recreate`, and the VM was not made as the spec says now: it is destroyed and created "
        "again. `status.replacement` shows the plan for a while before anything happens. Stalled where the cluster does "
        "not offer the new configuration.",
        "Where the object is Stalled, correct the configuration; else nothing, or put the old value back before the VM is "
        "destroyed. [More](../how-to/replace.md).",
    ),
    Row(
        Reason.RECREATION_LIMITED,
        "Ready False + Stalled",
        "The VM was recreated three times within an hour. The next one is created when the first of these is an hour old.",
        "Find out in the object's Events what destroys the VM, or why it fails; delete and create the object for a new VM now.",
    ),
    Row(
        Reason.DELETION_BLOCKED,
        "Ready False + Reconciling or Stalled",
        "The object cannot be deleted yet. It is paused; or its VM, VPC or snapshot cannot be seen; or the cloud does not "
        "destroy it; or others still need it (VMs in a VPC, users of an account).",
        "As the message says; `spec.deletion.policy: Retain` deletes the object and keeps what is in the cloud. What a "
        "VPC holds that has no object, as a VM that was retained, is destroyed in the cloud; or `kubectl gpucloud export` "
        "prints an object for it: apply that with `spec.deletion.policy: Delete`, and delete it. "
        "[More](../how-to/account.md#a-deletion-hangs).",
        of_kind={
            "GpuCloudAccount": "delete the objects that the message names; or free its Secret, as the message says.",
        },
    ),
    Row(
        Reason.DELETION_HELD,
        "Ready False + Stalled",
        "More VMs, or a higher price, entered deletion at once than `--brake-vms` or `--brake-price-per-hour` allows."
        " No destroying call is sent now; one that was sent before a restart cannot be undone.",
        "To let the deletions go on, type the command in the message; to keep the VM, set `spec.deletion.policy: "
        "Retain`. [More](../how-to/brakes-and-limits.md).",
    ),
    Row(
        Reason.LIMIT_REACHED,
        "Ready False + Stalled",
        "The account or the namespace has as many GpuVMs, or spends as much an hour, as `--max-…` allows; or the "
        "configuration's price is not known where a limit needs it. Nothing is bought; no deadline counts this.",
        "As the message says: delete a GpuVM, take a cheaper configuration, or ask the administrator for a higher limit; "
        "the operator then continues. [More](../how-to/brakes-and-limits.md#limits-on-purchases).",
    ),
)
