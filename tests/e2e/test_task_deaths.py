"""Each background task of an operator process is killed by an exception: it recovers, or the process ends at once and says why.

Seen from outside alone: metrics, logs, the exit code, and a Ready that follows the cloud. ``support.deaths`` kills.
"""

from __future__ import annotations

import re
import subprocess
import time
import urllib.request
from fnmatch import fnmatchcase
from functools import partial

import pytest

from gpucloud.engine.runtime.supervisor import TASKS
from support.deaths import MESSAGE, Deaths
from support.leases import lease_rights
from support.manifests import gpucloudaccount, gpuvm, secret
from support.operatorproc import USER
from support.waiting import eventually, gone, reach

END_SECONDS = 5.0
KOPFS = "gpucloud.dev/kopf"  # the finalizer
FLAGS = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "create_grace_seconds": 1,
    "brake_vms": 1000,
    "workers": 2,
}
NO_PLACE = {"configuration": "A100_40GB_PCIe_1x", "cluster": "Msc1", "pool": "reserved-acme", "total": 0}
AT_START = {"sync"}
RUNNING = {"deletion-guard", "events", "loop-lag", "offers", "orphans", "own-account", "poll", "resync", "worker"}
WITH_A_NEW_ACCOUNT = {"account-check", "catalogue", "evidence"}
WITH_AN_ACCOUNTS_END = {"close-session"}
IN_CALLS = {"account-check", "catalogue", "evidence", "sync"}  # they begin with a call
WHILE_ONE_WAITS = {"capacity"}  # for capacity
RECOVER = AT_START | RUNNING | WITH_A_NEW_ACCOUNT | WITH_AN_ACCOUNTS_END | WHILE_ONE_WAITS

# Whose death ends the process, and the words of the log line that names it. The names with spaces are kopf's own.
END = {
    "cleaner of *": '"task": "cleaner of ',
    "credentials retriever": '"task": "credentials retriever"',
    "election": "leader election failed: this process ends",
    "multidimensional multitasker": '"task": "multidimensional multitasker"',
    "runner of health": '"task": "runner of health"',
    "spawner of *": '"task": "spawner of ',
    "watcher for gpuvms.*": "Watcher for gpuvms.v1alpha1.gpucloud.dev@",
    "worker for *": "Event processing has failed with an unrecoverable error for (gpucloudaccounts.",
}
# Tasks of kopf that end the process as the multitasker does, and waiters whose end ends only what waits for them.
AWAITED = {
    "admission insights chain",
    "admission mutating configuration manager",
    "admission validating configuration manager",
    "admission webhook server",
    "daemon killer",
    "insights revision waiter",
    "namespace observer",
    "pause-waiter for *",
    "poster of events",
    "resource observer",
    "startup/cleanup activities",
    "stop-flag checker",
    "stop-flag waiter",
    "ultimate termination",
    "watcher for *",
}


def test_the_death_of_every_task_is_tested():
    assert {name for name in RECOVER | END.keys() if " " not in name} == set(TASKS)


@pytest.fixture
def deaths(tmp_path):
    return Deaths(tmp_path)


def failures(process):
    """How often each task has failed, by the metric."""
    port = next(record["metrics_port"] for record in process.logs() if record.get("event") == "listening")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    return {task: float(count) for task, count in re.findall(r'gpucloud_task_failures_total{task="(.+?)"} (\S+)', text)}


def dead(process):
    """The tasks that have failed."""
    return {task for task, count in failures(process).items() if count}


def kill(deaths, tasks, *, cancelled):
    """Order these deaths; returns what waits for all of them."""
    for task in tasks:
        deaths.order(task, cancelled=cancelled)

    def wait():
        for task in tasks:
            deaths.done(task)

    return wait


@pytest.mark.parametrize("cancelled", [False, True])
def test_the_tasks_that_recover(here, sim, operator, deaths, cancelled):
    """One process outlives the death of each; then an edit, an order and a change of the cloud still take effect.

    What is cancelled in a call, without a request, lives on: there it is a failure of the call.
    """
    killed = partial(kill, deaths, cancelled=cancelled)
    all_at_start = killed(AT_START)
    process = operator(**FLAGS, env=deaths.env)
    all_at_start()
    process.wait_for_line('"synced"')
    here.apply(gpuvm())
    reach(here, "gpuvm", "train", "True/Running")
    killed(RUNNING)()
    all_new = killed(WITH_A_NEW_ACCOUNT)
    here.apply([secret(apikey=sim.key()["value"]), gpucloudaccount(), gpuvm("second")])
    all_new()
    all_ended = killed(WITH_AN_ACCOUNTS_END)
    here.apply([secret("spare", apikey=sim.key()["value"]), gpucloudaccount("spare", secretRef={"name": "spare"})])
    reach(here, "gpucloudaccount", "spare", "True/Connected")
    here.delete("gpucloudaccount", "spare")
    all_ended()

    sim.turn(create_without_capacity="refuse_503")
    sim.control("capacity", NO_PLACE)
    all_waiting = killed(WHILE_ONE_WAITS)
    here.apply(gpuvm("third", resourcePool=NO_PLACE["pool"]))
    all_waiting()
    sim.control("capacity", NO_PLACE | {"total": 1})
    reach(here, "gpuvm", "third", "True/Running")

    survivors = IN_CALLS if cancelled else set()
    eventually(lambda: RECOVER - survivors <= dead(process) <= RECOVER, what="each death to be counted")
    logged = [record for record in process.logs() if record.get("event", "").startswith("a background task has")]
    assert {record["task"] for record in logged} == dead(process)
    assert all(MESSAGE in record["exception"] for record in logged)
    for name in ("train", "second"):
        reach(here, "gpuvm", name, "True/Running")
        sim.destroy_vm(here.get("gpuvm", name)["status"]["vmId"])
        reach(here, "gpuvm", name, "False/VMLost")
    here.delete("gpuvm", "second", wait=False)
    gone(here, "gpuvm", "second")
    assert process.process.exit_code is None


@pytest.mark.parametrize("task", END)
def test_a_task_without_which_nobody_watches_ends_the_process(here, operator, deaths, task, rights):  # noqa: ARG001
    here.apply(lease_rights(here.namespace))
    eventually(lambda: here.may(USER, "create", "leases", group="coordination.k8s.io"), what="the right to be in force")
    place = {"namespace": [here.namespace], "install_tag": "deaths", "lease_namespace": here.namespace}
    process = operator(**FLAGS, **place, leader_elect=True, env=deaths.env)
    process.wait_for_line('"synced"')
    here.apply([secret(apikey="made-up"), gpucloudaccount()])
    eventually(lambda: any(fnmatchcase(name, task) for name in deaths.running()), what=f"{task} to run")
    assert not [name for name in deaths.running() if not covered(name)], "tasks whose death nobody has thought of"
    # The patch of a finalizer may fail, and is repeated: what is to die is the worker that waits for events.
    eventually(lambda: KOPFS in here.get("gpucloudaccount", "default")["metadata"].get("finalizers", ()), what="that patch")
    deaths.order(task)
    here.annotate("gpucloudaccount", "default", note="an event, should the worker have gone")
    deaths.done(task)
    began = time.monotonic()
    try:
        code = process.process.wait(20.0)
    except subprocess.TimeoutExpired:
        pytest.fail(f"nobody has noticed the death of {task}")
    assert (code, time.monotonic() - began < END_SECONDS) == (1, True)
    assert any(END[task] in line and MESSAGE in line for line in process.process.lines())


def covered(name):
    """Whether the death of the task of this name is tested here."""
    patterns = {*(pattern for task in TASKS for pattern in (task, f"{task}-*")), *END, *AWAITED}
    return any(fnmatchcase(name, pattern) for pattern in patterns)
