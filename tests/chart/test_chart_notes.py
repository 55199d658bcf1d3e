"""What Helm tells after an installation: the next step, for the way that was chosen."""

from __future__ import annotations

import json

import pytest

from chartfiles.places import CHART
from support.chart import MINIMAL, SIMULATED, merged

NOTES = [
    ({}, "It has no account of its own", "each namespace brings one, and how"),
    ({}, "helm test gpucloud --namespace gpucloud-system", "how to see that it works"),
    (SIMULATED, "kubectl wait gpuvm/first --namespace default", "a trial goes on with a VM"),
    (
        {**SIMULATED, "watchNamespaces": ["lab"], "settings": {"installTag": "prod1"}},
        "kubectl wait gpuvm/first --namespace lab",
        "in a namespace that is served",
    ),
    ({"credentials": {"existingSecret": "account"}}, "the Secret account in gpucloud-system", "where the account comes from"),
    ({"credentials": {"existingSecret": "account"}}, "settings.ownAccountNamespace", "and who may spend with it"),
    ({}, "custom resource definitions are not part of this release", "what is missing still"),
    ({"settings": {"observeOnly": True}}, "It only observes", "that nothing will happen"),
    ({}, "is refused while objects of ours live", "what an uninstall does"),
    ({"uninstall": {"policy": "Drain"}}, "DESTROYS every VM", "above all when it destroys"),
    (
        {"uninstall": {"policy": "Drain"}},
        "but for what was adopted and what its own deletion.policy retains",
        "and what it leaves",
    ),
    ({"uninstall": {"policy": "Retain"}}, "leaves what they stand for in the cloud, running and billed", "or leaves bills"),
]


@pytest.mark.parametrize(("values", "says", "why"), NOTES, ids=[f"{row[2]}" for row in NOTES])
def test_the_notes_say_what_comes_next(helm, values, says, why):
    command = ("install", "gpucloud", str(CHART), "--namespace=gpucloud-system", "--dry-run=client", "--values=-")
    done = helm.run(*command, stdin=json.dumps(merged(MINIMAL, values)))
    assert done.returncode == 0, done.stderr
    assert says in done.stdout.partition("NOTES:")[2], why
