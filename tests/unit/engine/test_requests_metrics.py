"""Requests to the apiserver are counted, whatever becomes of them."""

from __future__ import annotations

import asyncio

import pytest

from gpucloud.engine.kube.transport import KubeAnswer, NoAnswer
from gpucloud.engine.telemetry.metrics import Metrics
from gpucloud.engine.telemetry.requests import MeteredTransport


class Scripted:
    """A transport that answers, or raises, what it was given."""

    def __init__(self, outcome):
        self.outcome = outcome

    async def request(self, _method, _path, *, body, headers):  # noqa: ARG002
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


@pytest.mark.parametrize(
    ("outcome", "code", "why"),
    [
        (KubeAnswer(200, {}, "{}"), "200", "carried out"),
        (KubeAnswer(409, {}, "{}"), "409", "a refusal is an answer"),
        (NoAnswer("Timeout"), "<error>", "client-go's word where no answer came"),
        (asyncio.CancelledError(), "<error>", "a shutdown in mid-request: nobody knows its answer"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_each_request_is_counted_once(outcome, code, why):
    metrics, times = Metrics(), iter((10.0, 10.5))
    transport = MeteredTransport(Scripted(outcome), metrics.requests, lambda: next(times))
    asked = transport.request("PUT", "/apis", body=None, headers={})
    if isinstance(outcome, BaseException):
        with pytest.raises(type(outcome)):
            await asked
    else:
        assert await asked is outcome
    value = metrics.registry.get_sample_value
    assert value("rest_client_requests_total", {"code": code, "method": "PUT"}) == 1, why
    assert value("rest_client_request_duration_seconds_sum", {"verb": "PUT"}) == 0.5
