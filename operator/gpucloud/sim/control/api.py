"""The control API: guards it, finds the action, reads its parameters, answers in JSON."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from gpucloud.sim.answers import as_json
from gpucloud.sim.control import accounts, cloud, document, objects
from gpucloud.sim.control.action import Action
from gpucloud.sim.messages import Request, Response
from gpucloud.sim.parse import loads
from gpucloud.sim.world.refusals import Reason, Refused

if TYPE_CHECKING:
    from gpucloud.sim.state import State

_CHANGES: tuple[Action, ...] = (*cloud.ACTIONS, *objects.ACTIONS, *accounts.ACTIONS)
ACTIONS: tuple[Action, ...] = (
    Action("GET", "", "listActions", "list the actions", cloud.Nothing, lambda _state, _args: document.index(ACTIONS)),
    Action(
        "GET",
        "openapi.json",
        "readOpenApi",
        "read its OpenAPI document",
        cloud.Nothing,
        lambda _state, _args: document.openapi(ACTIONS),
    ),
    *_CHANGES,
)
_UNKNOWN = {Reason.MISSING_VM, Reason.MISSING_OTHER, Reason.UNKNOWN_REFERENCE}
_STATUS = {Reason.MISSING_VM: 404, Reason.MISSING_OTHER: 404, Reason.FORBIDDEN: 403}


class ControlApi:
    """Answers control requests for the state of one cloud."""

    def __init__(self, state: State) -> None:
        self._state = state

    def handle(self, request: Request, path: str) -> Response:
        """Answer one request; errors are ``{"error": text}`` with 400, 403, 404, 405 or 415."""
        if not _is_loopback(request.peer):
            return _failed(403, "The control API answers on loopback only.")
        if request.body and not request.header("content-type").startswith("application/json"):
            return _failed(415, "Send application/json.")  # a web page cannot, without asking first
        found = [(action, named) for action in ACTIONS if (named := _match(action.path, path)) is not None]
        if not found:
            return _failed(404, f"There is no /_sim/{path}. GET /_sim/ lists what there is.")
        for action, named in found:
            if action.method == request.method:
                return self._act(action, named, request)
        return _failed(405, f"Use {' or '.join(sorted({action.method for action, _ in found}))}.")

    def _act(self, action: Action, named: dict[str, str], request: Request) -> Response:
        try:
            given = loads(request.body) if request.body else {}
            if not isinstance(given, dict):
                return _failed(400, "Send a JSON object.")
            args = action.args.model_validate({**dict(request.query), **given, **named})
            return Response(200, as_json(action.act(self._state, args)))
        except ValidationError as error:
            problems = error.errors(include_url=False, include_input=False, include_context=False)
            return _failed(400, "; ".join(f"{'.'.join(map(str, item['loc']))}: {_said(item, action)}" for item in problems))
        except Refused as refused:
            return _failed(_STATUS.get(refused.reason, 400), self._advised(action, refused))
        except ValueError as error:
            return _failed(400, str(error))

    def _advised(self, action: Action, refused: Refused) -> str:
        """The refusal; of an unknown name with those that are known."""
        if action.known is None or refused.reason not in _UNKNOWN:
            return refused.message
        return f"{refused.message.rstrip('.')}. {action.known(self._state)}"


def _said(problem: Any, action: Action) -> str:
    """What is wrong with a parameter. An unknown one is answered with those that the action takes."""
    if problem["type"] != "extra_forbidden":
        return str(problem["msg"])
    taken = ", ".join(action.args.model_fields)
    return f"unknown parameter; {action.method} /_sim/{action.path} takes {taken or 'none'}"


def _is_loopback(peer: str) -> bool:
    try:
        return ipaddress.ip_address(peer).is_loopback
    except ValueError:
        return False


def _match(pattern: str, path: str) -> dict[str, str] | None:
    if pattern == path:
        return {}
    prefix = pattern.removesuffix("{id}")
    rest = path.removeprefix(prefix)
    return {"id": rest} if prefix != pattern and rest != path and rest and "/" not in rest else None


def _failed(status: int, text: str) -> Response:
    return Response(status, as_json({"error": text}))
