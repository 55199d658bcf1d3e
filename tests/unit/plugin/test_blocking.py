"""Who blocks a deletion: the plugin, which knows what the apiserver shows, says the same as the operator."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gpucloud.cli.plugin.model import dependencies
from gpucloud.cli.plugin.model.dependencies import World
from gpucloud.cli.plugin.model.objects import Condition, thing
from gpucloud.engine.kinds import dependents
from gpucloud.kinds.common import OrderState
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.transitions import MAY_EXIST
from support.dice import Dice

BLOCKED = (Condition("Ready", "False", "DeletionBlocked", "Made up."), Condition("Reconciling", "True", "DeletionBlocked", ""))
NAMED = re.compile(r"(\w+) '(\w+)'")  # an object of another namespace has no name in a message, and is not shown by the plugin


def test_states_of_an_order_are_grouped_as_the_operator_groups_them():
    assert (dependencies.MAY_EXIST, dependencies.BEING_MADE) == (MAY_EXIST, orders.BEING_MADE)


def names_of_the_cloud_apart(kind, body):
    """The object without a source that it names as the cloud does, which only the operator can follow."""
    spec = body["spec"]
    if kind == "GpuSnapshot" and "vm" in spec:
        return body | {"spec": {name: value for name, value in spec.items() if name != "vm"} | {"vmRef": {"name": "nobody"}}}
    if kind == "GpuVM" and "snapshot" in (spec.get("image") or {}):
        return body | {"spec": {name: value for name, value in spec.items() if name != "image"}}
    return body


def of_operator(objects, kind, stored):
    """Kind and name of each object of the namespace that the operator waits for."""
    if kind == "GpuVpc":
        lost = stored.order is not None and stored.order.state is OrderState.LOST
        found = dependents.dependents_of_vpc(objects, stored, stored.spec, lost=lost)
    elif kind == "GpuVM":
        found = dependents.dependents_of_vm(objects, stored)
    else:
        found = dependents.dependents_of_snapshot(objects, stored)
    return {named.groups() for name in found if (named := NAMED.fullmatch(str(name)))}


def of_plugin(things, item):
    """The same by the plugin, of the object in deletion."""
    seen = World.of([item if other.key == item.key else other for other in things])
    return {(key.kind, key.name) for key in seen.waits_for(item)}


@pytest.mark.parametrize("seed", range(40))
def test_the_plugin_and_the_operator_name_the_same_objects(seed):
    dice, compared = Dice(seed), 0
    for _ in range(40):
        dice.change(names_of_the_cloud_apart)
        things = [thing(kind, body) for kind, body in dice.bodies.values()]
        for item, (kind, _body) in zip(things, dice.bodies.values(), strict=True):
            stored = dice.objects.stores[kind].named(item.key.namespace, item.key.name)
            if not stored.meta.deleting:
                continue
            blocked = replace(item, deleting=datetime.now(UTC), conditions=BLOCKED)
            expected = of_operator(dice.objects, kind, stored)
            assert of_plugin(things, blocked) == expected, (item, things)
            compared += bool(expected)
    assert compared, "there was something to compare"
