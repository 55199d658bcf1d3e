"""Any GpuHost in any situation: it is decided upon, its status can be written, and nothing is sent that nobody requests now."""

from __future__ import annotations

from dataclasses import replace

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.gpuhost import HostOutcome
from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile.facts import Present, Verb
from gpucloud.reconcile.gpuhost import decide
from gpucloud.reconcile.gpuhost.facts import announcement
from support.anyhost import CALLS, any_host
from support.builders import NOW
from support.generated_amount import amount, drawn_for
from support.generated_specs import status, text, valid
from unit.fuzz.test_specs import MODELS, judge, stored

FRESH_SECONDS = 10.0
VERBS = {call: verb for verb, call in CALLS.items()}
REQUESTS = {
    Verb.REBOOT_HOST: Annotation.REBOOT_REQUESTED_AT,
    Verb.REPROVISION_HOST: Annotation.REPROVISION_REQUESTED_AT,
}
UNDONE = {ErrorKind.NOT_SENT, ErrorKind.THROTTLED}


def situations(name, sample):
    for number in range(amount(sample, 20_000)):
        yield drawn_for(name, "GpuHost", number)


def test_nothing_is_sent_that_is_not_requested_announced_and_unsent():
    sent = 0
    for r in situations("hosts", 6000):
        f = any_host(r)
        plan = decide(f)
        judge("GpuHost", plan, before=f.status.conditions)
        if plan.action is None:
            continue
        sent += 1
        (value,), operation, attempt = plan.targets, plan.status.operation, f.history.attempts.get(plan.action)
        assert f.meta.annotations.get(REQUESTS[plan.action]) == value == operation.id, f
        assert f.meta.annotations.get(Annotation.PAUSED, "false") == "false", f
        assert (f.meta.deleting, f.owner, f.isolated, f.limits.observe_only) == (False, None, False, False), f
        assert isinstance(f.found, Present), f
        assert (f.found.duplicate_records, f.found.as_of >= NOW - FRESH_SECONDS) == (False, True), f
        assert (operation.verb, operation.outcome) == (VERBS[plan.action], HostOutcome.ANNOUNCED), f
        if attempt is not None and attempt.targets == (value,):
            assert attempt.refusal is not None, f
            assert (attempt.refusal.kind in UNDONE, attempt.refusal.ambiguous) == (True, False), f
        if plan.records_order:
            assert (f.synced, operation == f.status.operation) == (True, False), f
        else:
            assert f.announced == announcement(f.status.operation) == announcement(operation), f
    assert sent > 100


def test_any_spec_and_any_status_that_people_can_write_is_lived_with():
    for r in situations("host statuses", 1500):
        f, written = any_host(r), status(r, "GpuHost")
        marks = {name: text(r, r.choice((1, 30, 253, 300))) for name in Annotation if r.random() < 0.2}
        found = stored("GpuHost", {}, written, annotations=marks)
        spec = MODELS["GpuHost"].spec.model_validate(valid(r, "GpuHost"))
        f = replace(f, spec=spec, status=found.status, meta=replace(f.meta, annotations=found.meta.annotations))
        judge("GpuHost", decide(f), before=found.status.conditions)


def test_no_secret_of_a_url_is_shown():
    for r in situations("host images", 300):
        plan = decide(any_host(r))
        assert plan.status is None or "made-up" not in plan.status.model_dump_json()
