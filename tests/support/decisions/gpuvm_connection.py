"""Rows of a GpuVM with ``spec.connection``: what is told of an address that is missing, and of what is withdrawn."""

from __future__ import annotations

from datetime import timedelta

from gpucloud.cloud.errors import ErrorKind
from gpucloud.engine.kinds.gpuvm.publishing import RIGHTS
from gpucloud.kinds.connection import PublishedConnection
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Asked, Attempt, CallHistory, Refusal, Verb
from gpucloud.reconcile.gpuvm.connection import WITHDRAW_SECONDS
from support.builders import NOW, START, a_spec, present
from support.gpuvmfacts import DELETING, RUNNING
from support.rows import Row

SERVICE = {"service": {"name": "train", "ports": [{"name": "metrics", "port": 9400}]}}
OURS = ("endpointslices/train", "services/train")
SINCE = START + timedelta(seconds=NOW - WITHDRAW_SECONDS)
RECORD = PublishedConnection(service="train", host="10.0.0.7", private_address="10.0.0.7", address="10.0.0.7")
RETAINED = {
    "spec": a_spec(connection=SERVICE, deletion={"policy": "Retain"}),
    "found": present(private_ip="10.0.0.7"),
    "meta": DELETING,
}
NOT_WITHDRAWN = (  # as engine/kinds/gpuvm/publishing.py has it
    "What is published cannot be deleted; it is tried again. A stop or destruction waits "
    f'{WITHDRAW_SECONDS:.0f} s, then is sent anyway. {RIGHTS} The apiserver says: "the apiserver\'s own words".'
)
FAILED = Attempt(
    Verb.WITHDRAW,
    NOW - 1,
    Asked(1),
    Refusal(ErrorKind.FORBIDDEN, NOT_WITHDRAWN, ambiguous=False),
    9,
    1,
    OURS,
)

STOP = {  # sent all the same, when the withdrawal has failed for long
    "spec": a_spec(connection=SERVICE, powerState="Stopped"),
    "found": present(private_ip="10.0.0.7"),
    "status": RUNNING.model_copy(update={"connection": RECORD.model_copy(update={"withdrawing_since": SINCE})}),
    "history": CallHistory(first_seen=NOW - 600, attempts={Verb.WITHDRAW: FAILED}),
}

ROWS = {
    "a VM is stopped though what is published could not be withdrawn": Row(
        "a wait must end", STOP, Reason.DRIFTED, action=Verb.STOP, beside=("PublicationFailed",)
    ),
    "a VM without an address that a Service can lead to": Row(
        "its owner waits for the Service",
        {"spec": a_spec(connection=SERVICE), "status": RUNNING, "found": present(ip="192.0.2.7")},
        Reason.RUNNING,
        "True",
        None,
        beside=("PublicationFailed",),
    ),
    "what is published is withdrawn before the object goes": Row(
        "nothing must lead to a VM that nobody looks after",
        RETAINED | {"status": RUNNING.model_copy(update={"connection": RECORD})},
        Reason.DELETING,
        action=Verb.WITHDRAW,
        targets=OURS,
        says="is being withdrawn; the object is deleted next.",
    ),
    "what could not be withdrawn is named at the end": Row(
        "the end of an object waits for a bounded time",
        RETAINED
        | {
            "status": RUNNING.model_copy(update={"connection": RECORD.model_copy(update={"withdrawing_since": SINCE})}),
            "history": CallHistory(first_seen=NOW - 600, attempts={Verb.WITHDRAW: FAILED}),
        },
        released=Reason.RETAINED,
        says="Not withdrawn: endpointslices/train, services/train. Kubernetes deletes them after this object.",
    ),
}
