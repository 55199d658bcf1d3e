"""Specs drawn from the printed schemas against a real apiserver: valid ones are let in, broken ones are refused by name.

Everything is a dry run, so nothing is stored. ``CHAOS=whole`` tries five thousand of each kind and sort.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from kubernetes import client, config

from gpucloud.kinds.meta import GROUP, VERSION
from support.generated_amount import amount, drawn_for, replay
from support.generated_specs import PLURALS, SCHEMAS, all_breaks, valid

VALID, BROKEN = amount(100, 5000), amount(100, 5000)
AT_ONCE = 4

each_kind = pytest.mark.parametrize("kind", sorted(SCHEMAS))


class Judge:
    """The apiserver's answer to a dry run of one spec."""

    def __init__(self, kubeconfig, namespace):
        self._api = client.CustomObjectsApi(config.new_client_from_config(str(kubeconfig)))
        self._namespace = namespace

    def complaint(self, kind, spec):
        """Why it is refused, with the fields that the answer blames; None when it is accepted."""
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind, "metadata": {"name": "drawn"}, "spec": spec}
        try:
            self._api.create_namespaced_custom_object(
                GROUP, VERSION, self._namespace, PLURALS[kind], body, dry_run="All", field_validation="Strict"
            )
        except client.ApiException as error:
            if error.status not in {400, 422}:
                raise
            return json.loads(error.body)["message"]
        return None

    def complaints(self, kind, specs):
        """The same of many, in their order."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(lambda spec: self.complaint(kind, spec), specs))


@pytest.fixture
def judge(control_plane, namespace):
    return Judge(control_plane.kubeconfig, namespace)


@each_kind
def test_every_valid_spec_is_accepted(judge, kind, figure):
    specs = [valid(drawn_for("valid", kind, number), kind) for number in range(VALID)]
    refused = [(spec, words) for spec, words in zip(specs, judge.complaints(kind, specs), strict=True) if words is not None]
    assert refused[:3] == [], replay("tests/e2e/test_generated_specs.py")
    figure(f"{len(specs)} valid specs of a {kind} accepted, 0 refused")


def drawn_breaks(kind):
    """Broken specs, each way to break one at least once, and then again round other valid ones."""
    number, found = 0, []
    while len(found) < BROKEN:
        ways = all_breaks(drawn_for("broken", kind, number), kind)
        found += ways if number == 0 else drawn_for("some", kind, number).sample(ways, k=min(len(ways), BROKEN - len(found)))
        number += 1
    return found


def names(words, blamed):
    """Whether the complaint names the field, or an unknown one in it."""
    return f"{blamed}: " in words or f'unknown field "{blamed}' in words


@each_kind
def test_every_broken_spec_is_refused_and_the_field_is_named(judge, kind, figure):
    broken = drawn_breaks(kind)
    answers = list(zip(broken, judge.complaints(kind, [item.spec for item in broken]), strict=True))
    accepted = [(item.why, item.blamed) for item, words in answers if words is None]
    assert accepted[:5] == [], replay("tests/e2e/test_generated_specs.py")
    unnamed = [(item.why, item.blamed, words) for item, words in answers if not names(words, item.blamed)]
    assert unnamed[:5] == []
    figure(f"{len(broken)} broken specs of a {kind} refused, the field named in each")
