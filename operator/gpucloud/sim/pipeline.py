"""The path of one request to the API: a request in, a response out, with faults carried out and the ledger kept.

It waits through the cloud's clock. It must not know sockets, nor any single operation.
"""

from __future__ import annotations

import math
import secrets  # noqa: TID251 - values of made-up secrets, which nothing depends on
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpucloud.sim import answers, faults, oddities
from gpucloud.sim.faults import FaultKind
from gpucloud.sim.ledger import Entry
from gpucloud.sim.messages import Ending, Response
from gpucloud.sim.parse import REDACTED, Invalid, parse, raw_parameters, redacted
from gpucloud.sim.route import Call
from gpucloud.sim.routes import find
from gpucloud.sim.world.identity import Caller, User
from gpucloud.sim.world.refusals import Reason, Refused

if TYPE_CHECKING:
    from gpucloud.sim.faults import InjectedFault
    from gpucloud.sim.knobs import Knobs
    from gpucloud.sim.messages import Request
    from gpucloud.sim.payloads import Payload
    from gpucloud.sim.route import Reply, Route
    from gpucloud.sim.state import State

_NOBODY = Caller("none", User("", "", frozenset()), frozenset())


class RequestPipeline:
    """Answers requests of the API by the state of one cloud."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def handle(self, request: Request) -> Response:
        """Answer one request of the API; never raises for anything a caller may send."""
        route = find(request.method, request.path, self._state.knobs)
        if isinstance(route, int):
            return self._nowhere(route, request)
        parameters = raw_parameters(request)
        entry = self._state.ledger.received(self._entry(route, request, parameters))
        strike = self._state.faults.strike(route.operation, parameters, entry.credential)
        entry.faults = [fault.id for fault in strike.faults]
        await self._wait(strike.seconds(FaultKind.DELAY))
        response = _refused_early(strike, self._state.knobs) or self._answer(route, request, entry, strike)
        await self._wait(strike.seconds(FaultKind.DELAY_ANSWER))
        self._state.ledger.answered(entry, self._state.now(), response.status, response.ending)
        return response

    def _nowhere(self, status: int, request: Request) -> Response:
        parameters = dict.fromkeys((name for name, _ in request.query), REDACTED)
        entry = Entry(0, "unknown", request.method, request.path, "none", parameters, self._state.now())
        self._state.ledger.answered(self._state.ledger.received(entry), entry.received, status, Ending.COMPLETE)
        return Response(status)

    async def _wait(self, seconds: float) -> None:
        if seconds:
            await self._state.clock.sleep(seconds)

    def _entry(self, route: Route, request: Request, parameters: dict[str, Any]) -> Entry:
        shown = [value for name, value in request.headers if name == "authorization"]
        credential = self._state.world.identity.credential_id(shown)
        queried = [value for _, value in request.query]
        return Entry(
            seq=0,
            operation=route.operation,
            method=request.method,
            path=request.path,
            credential=credential,
            parameters=redacted(route, parameters),
            received=self._state.now(),
            mutating=route.mutates,
            secret_in_url=route.operation != "RefreshToken" and any(map(self._state.world.identity.is_secret, queried)),
        )

    def _answer(self, route: Route, request: Request, entry: Entry, strike: InjectedFault) -> Response:
        knobs = self._state.knobs
        try:
            call = self._call(route, request, strike)
            payload = oddities.understood(parse(route, request), knobs, self._state.world.catalogue.clusters)
            intercept = self._intercept(route, call, payload, entry, strike)
            if intercept is not None:
                return intercept
            reply = self._commit(route, call, payload, entry)
        except Refused as refused:
            return strike.on_response(answers.refusal(refused, knobs))
        except Invalid as invalid:
            if invalid.status != 400:
                return Response(invalid.status)
            return strike.on_response(answers.invalid(invalid.errors, knobs))
        return self._response(route, request, reply, strike)

    def _call(self, route: Route, request: Request, strike: InjectedFault) -> Call:
        now = self._state.now()
        stale = strike.first(FaultKind.STALE)
        as_of = now - stale.seconds if stale else None
        caller = _NOBODY
        if route.permission is not None:
            shown = [value for name, value in request.headers if name == "authorization"]
            caller = self._state.world.identity.caller(shown, now)
            if route.permission not in caller.permissions:
                raise Refused(Reason.FORBIDDEN, f"{answers.TEXTS[403]}{route.permission}")
        return Call(self._state.world, caller, now, secrets.token_urlsafe, as_of)

    def _intercept(self, route: Route, call: Call, payload: Payload, entry: Entry, strike: InjectedFault) -> Response | None:
        """Carry out the faults that keep a change from happening now: too late, or never."""
        late = strike.first(FaultKind.LATE_COMMIT)
        if not route.mutates:
            return None
        if late is not None:
            self._state.world.rules.timeline.at(
                call.now + late.seconds, lambda at: self._commit_late(route, replace(call, now=at), payload, entry)
            )
            return (
                answers.error(late.status, late.message or answers.TEXTS[500], call.knobs) if late.status else faults.hang_up()
            )
        if strike.first(FaultKind.GHOST) is not None:
            asked = entry.parameters
            name = asked.get("name") or asked.get("id") or asked.get("Id") or "ghost"
            data = {"id": name, "cluster": asked.get("cluster") or asked.get("Cluster"), "status": call.knobs.created_word}
            return answers.success(data, route.success, call.knobs)
        return None

    def _commit_late(self, route: Route, call: Call, payload: Payload, entry: Entry) -> None:
        try:
            self._commit(route, call, payload, entry)
        except Refused:
            return  # it has become impossible meanwhile, and nobody is listening

    def _commit(self, route: Route, call: Call, payload: Payload, entry: Entry) -> Reply:
        reply = route.handler(call, payload)
        if route.mutates and reply.changed:
            self._state.ledger.committed(entry, call.now, _subject(route, reply, entry))
        return reply

    def _response(self, route: Route, request: Request, reply: Reply, strike: InjectedFault) -> Response:
        lost = strike.first(FaultKind.STATUS_AFTER_COMMIT)
        if lost is not None:
            response = answers.error(lost.status, lost.message or answers.TEXTS[500], self._state.knobs)
        else:
            response = answers.success(
                strike.on_data(oddities.shown(reply.data, self._state.knobs)),
                reply.status or route.success,
                self._state.knobs,
                wrapped=route.permission is None,
                media_type=_media_type(route, request),
            )
        return strike.on_response(response)


def _refused_early(strike: InjectedFault, knobs: Knobs) -> Response | None:
    fault = strike.first(FaultKind.STATUS, FaultKind.RESET, FaultKind.SILENCE)
    if fault is None:
        return None
    if fault.kind is FaultKind.RESET:
        return faults.hang_up()
    if fault.kind is FaultKind.SILENCE:
        return faults.silence(fault)
    response = faults.own_body(fault) or answers.error(
        fault.status, fault.message or answers.TEXTS.get(fault.status, "Try again later."), knobs
    )
    if fault.retry_after:
        response = replace(response, headers=(*response.headers, ("retry-after", fault.retry_after)))
    return response


def _subject(route: Route, reply: Reply, entry: Entry) -> dict[str, Any]:
    """Name what was changed: from the answer, then from the parameters (a snapshot's record names no cluster)."""
    if route.permission is None:
        return {}
    asked = {name.lower(): value for name, value in entry.parameters.items()}
    answered = reply.data if isinstance(reply.data, dict) else {}
    found = {name: answered.get(name) or asked.get(name) for name in ("cluster", "namespace", "id")}
    return {name: value for name, value in found.items() if value}


def _media_type(route: Route, request: Request) -> str:
    """Return one of the three content types that GetAll offers, as Accept prefers it; JSON everywhere else."""
    offered = ("application/json", "text/json", "text/plain") if route.record == list[str] else ("application/json",)
    ranked: list[tuple[float, str]] = []
    for part in request.header("accept").split(","):
        name, _, parameters = part.strip().lower().partition(";")
        if name.strip() in offered:
            ranked.append((_quality(parameters), name.strip()))
    best = max(ranked, key=lambda item: item[0], default=(1.0, offered[0]))[1]
    return f"{best}; charset=utf-8"


def _quality(parameters: str) -> float:
    for parameter in parameters.split(";"):
        name, _, value = parameter.strip().partition("=")
        if name == "q":
            try:
                quality = float(value)
            except ValueError:
                return 0.0
            return quality if math.isfinite(quality) else 0.0
    return 1.0
