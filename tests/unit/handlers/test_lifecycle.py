"""The settings of kopf without which it would do harm, each for a reason that was met once."""

import asyncio
import contextlib
import itertools
import logging

import aiohttp
import kopf
import pytest
import yarl
from multidict import CIMultiDict, CIMultiDictProxy

from gpucloud.handlers.lifecycle import (
    NoDiffBase,
    NoProgress,
    PatientBackoff,
    deleted_definition,
    drop_traceback_of_deleted_definition,
    first_failure,
    run,
    settings,
)
from gpucloud.kinds.meta import FINALIZER


def test_kopf_has_a_finalizer_of_its_own():
    """kopf takes its finalizer off every object that no kopf handler needs it for: sharing ours stripped every VM's."""
    assert settings().persistence.finalizer != FINALIZER


def test_one_that_only_looks_has_yet_another():
    """It has no timers, so it would take off the finalizer that the leader's need, and the two would write in a circle."""
    assert settings(idle=True).persistence.finalizer not in {settings().persistence.finalizer, FINALIZER}


async def test_kopfs_end_ends_nothing_else():
    """kopf's own way to end cancels every task of the loop: the engine would neither finish nor renew its Lease."""
    ours = asyncio.create_task(asyncio.sleep(60))
    root = asyncio.create_task(asyncio.sleep(60))
    assert await run([root, asyncio.create_task(asyncio.sleep(0))], first_failure()) is None
    assert (root.cancelled(), ours.done()) == (True, False)
    ours.cancel()


def missed(status=404):
    """As kopf raises it: the answer to its request is the cause."""
    url = yarl.URL("https://10.0.0.1/apis/gpucloud.dev/v1alpha1/gpuvms?watch=true")
    asked = aiohttp.RequestInfo(url, "GET", CIMultiDictProxy(CIMultiDict()), url)
    error = RuntimeError("404 page not found")
    error.__cause__ = aiohttp.ClientResponseError(asked, (), status=status)
    return error


@pytest.mark.parametrize(
    ("error", "definition", "why"),
    [
        (missed(), "gpuvms.gpucloud.dev", "the kind that it watched is no more"),
        (missed(403), None, "its rights were taken"),
        (RuntimeError("else"), None, "something else"),
        (None, None, "it ended without an error"),
    ],
)
def test_a_deleted_definition_is_told_from_other_ends_and_without_a_traceback(error, definition, why):
    assert deleted_definition(error) == definition, why
    record = logging.makeLogRecord({"exc_info": None if error is None else (type(error), error, None)})
    assert drop_traceback_of_deleted_definition(record)
    assert bool(record.exc_info) is (error is not None and definition is None)


async def fails():
    raise kopf.LoginError("nobody lets us in")


async def test_kopfs_failure_is_told():
    task = asyncio.create_task(fails())
    assert await run([task, asyncio.create_task(asyncio.sleep(60))], first_failure()) is task


async def test_the_failure_of_a_task_that_kopf_does_not_watch_is_told():
    unwatched, root = first_failure(), asyncio.create_task(asyncio.sleep(60))
    asyncio.create_task(fails(), name="some handler")  # noqa: RUF006 - it ends at once
    task = asyncio.create_task(fails(), name="credentials retriever")
    assert await run([root], unwatched) is task
    assert root.cancelled()


@pytest.mark.looptime
async def test_after_a_failure_a_task_that_refuses_to_end_is_left_behind():
    async def refuses():
        while not released.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await released.wait()

    released = asyncio.Event()
    task, other = asyncio.create_task(fails()), asyncio.create_task(refuses())
    await asyncio.sleep(0)
    assert await run([task, other], first_failure()) is task
    assert not other.done()
    released.set()
    await other


def test_an_outage_does_not_end_the_process():
    delays = list(itertools.islice(settings().networking.error_backoffs, 10_000))
    assert len(delays) == 10_000
    assert all(0 < delay <= 60 for delay in delays)
    assert min(delays[20:]) >= 30, "it settles at about a minute, not at a hammering"


def test_every_outage_starts_with_short_delays():
    backoff = PatientBackoff()
    for _ in range(3):
        assert next(iter(backoff)) <= 0.5


@pytest.mark.parametrize(
    ("value", "wanted", "why"),
    [
        (lambda it: it.posting.enabled, False, "events are the engine's"),
        (lambda it: it.scanning.disabled, True, "no rights on CRDs and namespaces of the cluster"),
        (lambda it: it.peering.standalone, True, "a stray object must not pause the operator"),
        (lambda it: it.queueing.worker_limit, None, "a limit starves objects"),
        (lambda it: it.networking.enforce_retry_after, True, "never sooner than asked"),
    ],
)
def test_what_matters(value, wanted, why):
    assert value(settings()) == wanted, why


def test_silent_streams_are_cut_after_the_bookmarks_of_a_minute():
    assert 60 < settings().watching.inactivity_timeout <= 75


def test_nothing_of_the_spec_is_copied_into_annotations():
    body, patch = kopf.Body({"metadata": {}, "spec": {"sshKeys": ["x"]}}), kopf.Patch()
    NoDiffBase().store(body=body, patch=patch, essence=kopf.BodyEssence({}))
    assert not patch
    assert NoDiffBase().fetch(body=body) is None
    assert isinstance(settings().persistence.diffbase_storage, NoDiffBase)


def test_an_event_costs_no_copy_of_the_object():
    body, storages = kopf.Body({"metadata": {"labels": {"a": "b"}}, "spec": {"sshKeys": ["x"]}}), settings().persistence
    assert storages.progress_storage.clear(essence=storages.diffbase_storage.build(body=body)) == {}


def test_kopf_writes_no_progress():
    body, patch, progress = kopf.Body({"metadata": {}}), kopf.Patch(), settings().persistence.progress_storage
    progress.touch(body=body, patch=patch, value="now")
    assert not patch
    assert isinstance(progress, NoProgress)
