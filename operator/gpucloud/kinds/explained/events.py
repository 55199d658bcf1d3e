"""Reasons that Events carry: what they mean, and what to do."""

from __future__ import annotations

from gpucloud.kinds.explained.row import Row
from gpucloud.kinds.meta import Reason

EVENTS = (
    Row(
        Reason.FINAL_SNAPSHOT_REQUESTED,
        "event",
        "A GpuSnapshot was created to take the [final snapshot](../how-to/final-snapshot.md) of a VM; or, where the "
        "namespace is being deleted, CreateSnapshot was accepted. The note names it.",
        "Nothing.",
    ),
    Row(
        Reason.FINAL_SNAPSHOT_FAILED,
        "event",
        "The final snapshot could not be requested; the note quotes the apiserver or the cloud.",
        "See the message of Ready, which says what happens next: `kubectl gpucloud status KIND/NAME`.",
    ),
    Row(
        Reason.RESUMED,
        "event",
        "The annotation `gpucloud.dev/paused` is gone, and the operator goes on.",
        "Nothing.",
    ),
    Row(
        Reason.CREATED,
        "event",
        "The cloud accepted the creation (CreateServer, CreateVpc, CreateSnapshot).",
        "Nothing.",
    ),
    Row(
        Reason.STARTED,
        "event",
        "The cloud accepted the start of the VM (StartServer).",
        "Nothing.",
    ),
    Row(
        Reason.STOPPED,
        "event",
        "The cloud accepted the stop of the VM (StopServer).",
        "Nothing.",
    ),
    Row(
        Reason.DESTROYED,
        "event",
        "The cloud accepted the destruction (DestroyServer, DestroyVpc, DeleteSnapshot), or what was to be destroyed "
        "was gone already.",
        "Nothing.",
    ),
    Row(
        Reason.REBOOT_REQUESTED,
        "event",
        "The cloud accepted the reboot of the host (RebootHost).",
        "Nothing.",
    ),
    Row(
        Reason.REPROVISION_REQUESTED,
        "event",
        "The cloud accepted the reprovisioning of the host (ReprovisionHost).",
        "Nothing.",
    ),
    Row(
        Reason.ORDER_FAILED,
        "event",
        "The creation failed (CreateServer, CreateVpc, CreateSnapshot); the note quotes the cloud.",
        "See the message of Ready, which says what happens next: `kubectl gpucloud status KIND/NAME`.",
    ),
    Row(
        Reason.START_FAILED,
        "event",
        "The start of the VM failed (StartServer); the note quotes the cloud.",
        "See the message of Ready, which says what happens next: `kubectl gpucloud status KIND/NAME`.",
    ),
    Row(
        Reason.STOP_FAILED,
        "event",
        "The stop of the VM failed (StopServer); the note quotes the cloud.",
        "See the message of Ready, which says what happens next: `kubectl gpucloud status KIND/NAME`.",
    ),
    Row(
        Reason.DESTROY_FAILED,
        "event",
        "The destruction failed (DestroyServer, DestroyVpc, DeleteSnapshot); the note quotes the cloud.",
        "See the message of Ready, which says what happens next: `kubectl gpucloud status KIND/NAME`.",
    ),
    Row(
        Reason.REBOOT_FAILED,
        "event",
        "The reboot of the host failed (RebootHost); the note quotes the cloud.",
        "See the message of Ready, which says what to do: `kubectl gpucloud status KIND/NAME`.",
    ),
    Row(
        Reason.REPROVISION_FAILED,
        "event",
        "The reprovisioning of the host failed (ReprovisionHost); the note quotes the cloud.",
        "See the message of Ready, which says what to do: `kubectl gpucloud status KIND/NAME`.",
    ),
    Row(
        Reason.RETAINED,
        "event",
        "The object was deleted; the VM, VPC or snapshot of its name stays in the cloud.",
        "A VM is billed until somebody destroys it. To print an object that manages it again: `kubectl gpucloud adopt NAME`.",
    ),
    Row(
        Reason.GONE,
        "event",
        "Listings prove that nothing of this object is in the cloud; the object is deleted.",
        "Nothing.",
    ),
    Row(
        Reason.PUBLISHED,
        "event",
        "What `spec.connection` names was created or updated; the note names it.",
        "Nothing.",
    ),
    Row(
        Reason.WITHDRAWN,
        "event",
        "What `spec.connection` had published was deleted; the note names it.",
        "Nothing. It is published again when the VM is `Running`.",
    ),
    Row(
        Reason.PUBLISH_FAILED,
        "event",
        "What `spec.connection` names could not be published; the condition `PublicationFailed` says the same.",
        "As the message says; it is tried again within a minute.",
    ),
    Row(
        Reason.WITHDRAW_FAILED,
        "event",
        "What `spec.connection` had published could not be withdrawn. A stop or destruction of the VM waits at most "
        "60 seconds for that, and is then sent all the same; its event names what was not withdrawn.",
        "As the message says; it is tried again within a minute.",
    ),
    Row(
        Reason.ADOPTED,
        "Ready True; event",
        "The object now manages what existed in the cloud, as `spec.adoption` allows.",
        "Nothing; when the object is deleted it stays, unless `spec.deletion.policy` says otherwise.",
    ),
    Row(
        Reason.CREDENTIAL_CHANGED,
        "event",
        "The account's Secret holds another credential, which is used from now on.",
        "Nothing.",
    ),
    Row(
        Reason.ORPHAN,
        "event",
        "A VM or snapshot of this installation that no object stands for; on the account, or without one on the "
        "resource definition.",
        "See [orphans](../how-to/orphans.md): destroy it in the cloud if nobody needs it.",
    ),
    Row(
        Reason.ORPHAN_COLLECTED,
        "event",
        "With `--collect-orphans`: the destruction of an orphan was requested.",
        "Nothing.",
    ),
    Row(
        Reason.ORPHAN_COLLECTION_FAILED,
        "event",
        "DestroyServer or DeleteSnapshot failed for an orphan; the note quotes the cloud.",
        "It is tried again at a later scan.",
    ),
    Row(
        Reason.ORPHAN_COLLECTION_REFUSED,
        "event",
        "Too many look orphaned at once: the operator collects none.",
        "Run `gpucloud orphans`, which lists them; find out what happened before you destroy any.",
    ),
    Row(
        Reason.OFFERS_NOT_WRITTEN,
        "event",
        "The apiserver refuses the account's GpuOffers; recorded once per refusal.",
        "Do what the Event says: grant the right, or install the CRDs.",
    ),
    Row(
        Reason.STATUS_UNDONE,
        "event",
        "Somebody else undoes what the operator writes to status, so calls that status must announce wait, "
        "DestroyServer among them. The note names the field manager.",
        "Keep that writer off `status`; the operator then continues.",
    ),
    Row(
        Reason.SECRET_HELD,
        "event",
        "The operator put its finalizer on the account's Secret, which keeps it until no object uses it.",
        "Nothing.",
    ),
    Row(
        Reason.SECRET_FREED,
        "event",
        "The operator took its finalizer off the Secret.",
        "Nothing.",
    ),
    Row(
        Reason.SECRET_FAILED,
        "event",
        "The operator's finalizer could not be put on the account's Secret or taken off it; the note quotes the apiserver.",
        "Check the operator's rights on Secrets; it is tried again.",
    ),
)
