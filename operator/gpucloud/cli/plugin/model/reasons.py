"""What each reason means for the plugin: what ends the trouble that it names, and what follows for status, wait and retry."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from gpucloud.kinds.meta import Reason


class EndsBy(Enum):
    """What has to happen until an object no longer bears a reason."""

    ITSELF = auto()  # nothing, or the operator and the cloud go on without a person; also of what only events carry
    OBJECT = auto()  # an object of ours that the spec refers to is created, or becomes Ready
    ACCOUNT = auto()  # an account that serves the object is created, or becomes Ready
    CREDENTIAL = auto()  # a valid credential of the right tenant is put into the account's Secret
    CONTENT = auto()  # what a Secret or ConfigMap holds is corrected
    CREATION = auto()  # a Secret or ConfigMap that the spec names is created, or a key in it
    PERSON = auto()  # a person acts; for the cloud's refusals a retry may do


class Meaning(NamedTuple):
    """What a reason means for the plugin."""

    ends_by: EndsBy
    is_shared: bool = False  # the account's trouble, if the account reports the same reason
    names_missing: bool = False  # where all that it waits for is missing, the message repeats what is said of that
    is_ready_and_calls: bool = False  # the object is Ready, and a person must see to it all the same
    ends_by_retry: bool = True  # False: a new try changes nothing, since something else has to be said or done first


_ITSELF, _PERSON = Meaning(EndsBy.ITSELF), Meaning(EndsBy.PERSON)
_NO_RETRY = Meaning(EndsBy.PERSON, ends_by_retry=False)

MEANINGS: dict[Reason, Meaning] = {
    # waiting for the operator
    Reason.PENDING: _ITSELF,
    Reason.PAUSED: _PERSON,
    Reason.OBSERVE_ONLY: _PERSON,
    # progress
    Reason.CREATING: _ITSELF,
    Reason.PROVISIONING: _ITSELF,
    Reason.STARTING: _ITSELF,
    Reason.STOPPING: _ITSELF,
    Reason.RESTARTING: _ITSELF,
    Reason.REBOOTING: _ITSELF,
    Reason.REPROVISIONING: _ITSELF,
    Reason.DELETING: _ITSELF,
    Reason.TAKING_FINAL_SNAPSHOT: _ITSELF,
    Reason.DRIFTED: _ITSELF,
    Reason.RECREATING: _ITSELF,
    Reason.REPLACING: _PERSON,
    Reason.UNKNOWN_STATE: _ITSELF,
    # settled as asked
    Reason.RUNNING: _ITSELF,
    Reason.POWERED_OFF: _ITSELF,
    Reason.AVAILABLE: _ITSELF,
    Reason.COMPLETED: _ITSELF,
    Reason.CONNECTED: _ITSELF,
    Reason.SECRET_DELETING: Meaning(EndsBy.PERSON, is_ready_and_calls=True),
    # waiting
    Reason.WAITING_FOR_CAPACITY: _ITSELF,
    Reason.SSH_KEYS_NOT_FOUND: Meaning(EndsBy.CREATION),
    Reason.NAMESPACE_TERMINATING: _ITSELF,
    Reason.RATE_LIMITED: _ITSELF,
    Reason.RECREATION_LIMITED: _PERSON,
    Reason.DEPENDENCY_NOT_READY: Meaning(EndsBy.OBJECT, names_missing=True),
    Reason.ACCOUNT_NOT_READY: Meaning(EndsBy.ACCOUNT, names_missing=True),
    # cannot see
    Reason.API_UNAVAILABLE: Meaning(EndsBy.ITSELF, is_shared=True),
    Reason.IMPLAUSIBLE_LISTING: Meaning(EndsBy.ITSELF, ends_by_retry=False),
    # a person must act
    Reason.INVALID_SPEC: _PERSON,
    Reason.INVALID_SSH_KEYS: Meaning(EndsBy.CONTENT),
    Reason.REJECTED: _PERSON,
    Reason.CREDENTIALS_REFUSED: Meaning(EndsBy.CREDENTIAL, is_shared=True),
    Reason.PERMISSION_DENIED: _PERSON,
    Reason.CONFLICT: _PERSON,
    Reason.POSSIBLE_DUPLICATE: _NO_RETRY,
    Reason.AMBIGUOUS: _PERSON,
    Reason.CREATE_FAILED: _PERSON,
    Reason.VM_FAILED: _PERSON,
    Reason.ADMIN_WAIT: _PERSON,
    Reason.VM_LOST: _NO_RETRY,
    Reason.API_ERROR: _PERSON,
    Reason.ORDER_OVERDUE: _PERSON,
    Reason.PROGRESS_DEADLINE_EXCEEDED: _PERSON,
    Reason.DELETION_BLOCKED: _PERSON,
    Reason.DELETION_HELD: _NO_RETRY,
    Reason.LIMIT_REACHED: _PERSON,
    Reason.NO_ACCOUNT: Meaning(EndsBy.ACCOUNT),
    Reason.INVALID_REFERENCE: _PERSON,
    Reason.TENANT_MISMATCH: Meaning(EndsBy.CREDENTIAL, is_shared=True, ends_by_retry=False),
    Reason.ENDPOINT_MISMATCH: _PERSON,
    Reason.SOURCE_NOT_FOUND: _PERSON,
    Reason.NOT_FOUND: _PERSON,
    Reason.NO_ADDRESS: _PERSON,
    Reason.MISMATCH: _PERSON,
    Reason.VPC_LOST: _NO_RETRY,
    Reason.SNAPSHOT_LOST: _NO_RETRY,
    Reason.HOST_OFF: _PERSON,
    Reason.HOST_FAILED: _PERSON,
    Reason.HOST_LOST: _NO_RETRY,
    Reason.SECRET_NOT_FOUND: Meaning(EndsBy.CREATION),
    Reason.INVALID_SECRET: Meaning(EndsBy.CONTENT),
    Reason.UNKNOWN_ENDPOINT: _PERSON,
    # events only
    Reason.CREATED: _ITSELF,
    Reason.FINAL_SNAPSHOT_REQUESTED: _ITSELF,
    Reason.FINAL_SNAPSHOT_FAILED: _ITSELF,
    Reason.STARTED: _ITSELF,
    Reason.STOPPED: _ITSELF,
    Reason.DESTROYED: _ITSELF,
    Reason.REBOOT_REQUESTED: _ITSELF,
    Reason.REPROVISION_REQUESTED: _ITSELF,
    Reason.ORDER_FAILED: _ITSELF,
    Reason.START_FAILED: _ITSELF,
    Reason.STOP_FAILED: _ITSELF,
    Reason.DESTROY_FAILED: _ITSELF,
    Reason.REBOOT_FAILED: _ITSELF,
    Reason.REPROVISION_FAILED: _ITSELF,
    Reason.RESUMED: _ITSELF,
    Reason.RETAINED: _ITSELF,
    Reason.GONE: _ITSELF,
    Reason.PUBLISHED: _ITSELF,
    Reason.WITHDRAWN: _ITSELF,
    Reason.PUBLISH_FAILED: _ITSELF,
    Reason.WITHDRAW_FAILED: _ITSELF,
    Reason.ADOPTED: _ITSELF,
    Reason.CREDENTIAL_CHANGED: _ITSELF,
    Reason.ORPHAN: _ITSELF,
    Reason.ORPHAN_COLLECTED: _ITSELF,
    Reason.ORPHAN_COLLECTION_FAILED: _ITSELF,
    Reason.ORPHAN_COLLECTION_REFUSED: _ITSELF,
    Reason.SECRET_HELD: _ITSELF,
    Reason.SECRET_FREED: _ITSELF,
    Reason.OFFERS_NOT_WRITTEN: _ITSELF,
    Reason.STATUS_UNDONE: _ITSELF,
    Reason.SECRET_FAILED: _ITSELF,
}


def _that_end_by(*ways: EndsBy) -> frozenset[Reason]:
    return frozenset(reason for reason, meaning in MEANINGS.items() if meaning.ends_by in ways)


WAITS_FOR_ACCOUNT = _that_end_by(EndsBy.ACCOUNT)  # whatever the account itself reports
OF_A_CREDENTIAL = _that_end_by(EndsBy.CREDENTIAL)
OF_CONTENT = _that_end_by(EndsBy.CONTENT)
OF_MISSING_DATA = _that_end_by(EndsBy.CREATION)
WAITS_FOR_REFERENCES = _that_end_by(EndsBy.OBJECT)
SHARED_WITH_ACCOUNT = frozenset(reason for reason, meaning in MEANINGS.items() if meaning.is_shared)
SAYS_WHAT_IS_MISSING = frozenset(reason for reason, meaning in MEANINGS.items() if meaning.names_missing)
READY_AND_CALLS = frozenset(reason for reason, meaning in MEANINGS.items() if meaning.is_ready_and_calls)
NOT_BY_A_RETRY = frozenset(reason for reason, meaning in MEANINGS.items() if not meaning.ends_by_retry)
