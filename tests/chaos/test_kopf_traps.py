"""What makes handlers of kopf give up, or its own notes overflow, must not touch us (G1, G2).

An hour of refusals lasts ``REFUSED_FOR`` seconds here; the tries of an hour are bounded by the table of reconcile/retry.py.
"""

from __future__ import annotations

import json
import time
from functools import partial

import pytest

from chaos.rig.campaign import Run
from chaos.rig.oracles import Expected, violations
from chaos.rig.reference import reference
from chaos.rig.rules import Hold, answer, drop, every
from chaos.rig.strangers import plant
from chaos.rig.tour import persist
from chaos.rig.workloads import RUNNING
from support.manifests import PUBLIC_KEY, gpuvm, secret

pytestmark = pytest.mark.timeout(1500)

FINALIZER = "gpucloud.dev/finalizer"
STATUSES = (400, 401, 403, 408, 409, 422, 429, 500, 502, 503, 504)  # 404 is success; when it lies: test_cloud_destroys.py
REFUSED_FOR = 8.0
KIB = 1024
SIZES = (64, 200, 300)


def refusals():
    """Fourteen ways in which a destroying call fails for as long as somebody likes."""
    ways = {str(status): answer(status, b'{"message": "made up"}') for status in STATUSES}
    return {**ways, "cut": drop(), "silent": None, "rubbish": answer(200, b"<html>")}


def test_fourteen_errors_on_delete(rig, campaign):
    """The object keeps its finalizer and the VM is no orphan, however long it lasts; then both go."""
    runs = [Run(f"DestroyServer: {name}", partial(refused, rig, do)) for name, do in refusals().items()]
    campaign.carry_out("G1", runs, sample=2, at_once=5 if campaign.whole else 2)


def test_a_deletion_whose_finalizer_cannot_be_taken_off(rig, campaign):
    """The VM is gone; the apiserver refuses what frees the object, in each of these ways."""
    ways = {str(status): answer(status, b"{}") for status in (409, 422, 429, 500, 503)}
    runs = [Run(f"release: {name}", partial(unreleased, rig, do)) for name, do in ways.items()]
    campaign.carry_out("G1", runs, sample=1)


def test_big_objects(rig, campaign):
    """Nothing of what an object holds is copied into its annotations or status; what is too big is refused at admission."""
    runs = [Run(f"an annotation of {size} KiB", partial(annotated, rig, size)) for size in SIZES]
    runs += [Run(f"keys of {size} KiB in a Secret", partial(keyed, rig, size)) for size in SIZES]
    runs += [Run("keys of 300 KiB in the spec", partial(specified, rig))]
    campaign.carry_out("G2", runs, sample=2)


def refused(rig, do):
    with rig.trial(cloud_timeout_seconds=5) as trial:
        plant(trial)
        trial.start()
        trial.apply(gpuvm())
        trial.reach("gpuvm", "train", RUNNING)
        hold = Hold()
        rule = trial.cloud.add(every("DestroyServer"), "received", do or hold, times=0)
        trial.here.delete("gpuvm", "train")
        trial.wait(lambda: rule.struck, "the first try")
        found = []
        end = time.monotonic() + REFUSED_FOR
        while time.monotonic() < end and not found:
            item = trial.here.get("gpuvm", "train")
            if not item or FINALIZER not in item["metadata"].get("finalizers", ()):
                found.append("G1: the finalizer went though the VM is there")
            time.sleep(0.2)
        trial.cloud.rules.remove(rule)
        hold.release()
        persist(trial, lambda: trial.here.get("gpuvm", "train") is None, "the object to go")
        trial.blind_seconds = REFUSED_FOR
        return found + violations(trial, Expected(summary=reference(rig, "vm").summary))


def unreleased(rig, do):
    with rig.trial() as trial:
        plant(trial)
        trial.start()
        trial.apply(gpuvm())
        trial.reach("gpuvm", "train", RUNNING)
        rule = trial.kube.add(every("patch gpuvms"), "received", do, times=0)
        trial.here.delete("gpuvm", "train")
        trial.wait(lambda: rule.struck, "the first try")
        time.sleep(REFUSED_FOR)
        found = [] if trial.here.get("gpuvm", "train") else ["G1: the object went though nobody freed it"]
        trial.kube.rules.remove(rule)
        trial.gone("gpuvm", "train")
        return found + violations(trial, Expected(summary=reference(rig, "vm").summary))


def annotated(rig, size):
    """The apiserver itself takes 256 KiB of annotations together."""
    return lived(rig, gpuvm(annotations={"example.com/notes": "x" * (size * KIB)}), fits=size < 256)


def keyed(rig, size):
    """Keys that are bought with the VM, up to 256 of them; a Secret with more is told to be wrong, and nothing is bought."""
    line = f"ssh-ed25519 {'AAAA' * 1500} nobody@example\n"
    number = size * KIB // len(line)
    lines = "".join(line.replace("AAAA nobody", f"{count:04d} nobody") for count in range(number))
    with_keys = gpuvm(sshKeys=None, sshKeysFrom=[{"secretKeyRef": {"name": "keys", "key": "keys"}}])
    return lived(rig, with_keys, secret("keys", keys=lines))


def specified(rig):
    """The definition bounds each key and their number; the largest that it takes must live like any other."""
    keys = [f"{PUBLIC_KEY} {number:04d}{'x' * 4800}" for number in range(64)]
    return lived(rig, gpuvm(sshKeys=keys))


def lived(rig, manifest, *before, fits=True):
    with rig.trial() as trial:
        plant(trial)
        trial.start()
        if not fits:
            path = f"/apis/gpucloud.dev/v1alpha1/namespaces/{trial.namespace}/gpuvms"
            status, _ = trial.here.answer("POST", path, manifest)
            return [f"G2: it was not refused but answered with {status}"] if status != 422 else violations(trial)
        trial.apply(*before, manifest)
        trial.reach("gpuvm", "train", RUNNING)
        found = foreign_words(trial.here.get("gpuvm", "train"), manifest)
        trial.here.delete("gpuvm", "train")
        trial.gone("gpuvm", "train")
        return found + violations(trial, Expected(summary=reference(rig, "vm").summary))


def foreign_words(item, manifest):
    """What of an object nobody has written but kopf; and a status that has grown with the spec."""
    meta = item["metadata"]
    found = [
        f"G2: annotation {name}" for name in meta.get("annotations", {}).keys() - manifest["metadata"]["annotations"].keys()
    ]
    if "kopf" in json.dumps([item["status"], meta["finalizers"], meta.get("labels", {})]):
        found.append("G2: kopf has written something of its own")
    by_kopf = [one["fieldsV1"] for one in meta["managedFields"] if "kopf" in one["manager"]]
    if any(fields.keys() != {"f:metadata"} or fields["f:metadata"].keys() != {"f:finalizers"} for fields in by_kopf):
        found.append(f"G2: kopf, which is to add our finalizer, has written {by_kopf}")
    if len(json.dumps(item["status"])) > 8 * KIB:
        found.append("G2: the status is larger than 8 KiB")
    return found
