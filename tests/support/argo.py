"""Argo CD's scripts, run as Argo CD runs them: Lua 5.1 with the base, package and table libraries and a clock, nothing else.

Its own tests open every library, so a script that needs one passes there and fails in production.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import yaml
from lupa.lua51 import LuaRuntime, lua_type

FOLDER = Path(__file__).parents[2] / "deploy" / "argocd" / "resource_customizations"
MOMENT = time.gmtime(1_767_322_800)  # 2026-01-02T03:00:00Z
# What is left of the libraries. Methods of a text are the string library too.
_CLOSE = """
local date, time, open = ...
getmetatable("").__index = nil
string, math, io, debug, coroutine, os, dofile, loadfile, python = nil
package = nil
require = function(name)
  if name == "os" then return { date = date, time = time } end
  error("module '" .. name .. "' not found")
end
"""


def run(script: Path, item: dict[str, Any], params: dict[str, str] | None = None) -> Any:
    """What a script answers about an object, as plain data.

    Raises:
        lupa.lua51.LuaError: the script uses what is not there, or is wrong.
    """
    lua = LuaRuntime(unpack_returned_tuples=True, register_eval=False)
    lua.execute(_CLOSE, lambda form: time.strftime(form.removeprefix("!"), MOMENT), lambda: 0)
    lua.globals()["obj"] = _table(lua, item)
    lua.globals()["actionParams"] = _table(lua, params or {})
    return _plain(lua.execute(script.read_text()))


def impacted(answer: Any) -> list[dict[str, Any]]:
    """What Argo CD does upon an action's answer: an object is the source, patched; a list names its own operations."""
    return answer if isinstance(answer, list) else [{"operation": "patch", "resource": answer}]


def of(kind: str, script: str = "health.lua") -> Path:
    """Where a kind's script is."""
    return FOLDER / "gpucloud.dev" / kind / script


def health(item: dict[str, Any]) -> dict[str, str]:
    """Argo CD's verdict: ``status`` and ``message``."""
    answer: dict[str, str] = run(of(item["kind"]), item)
    return answer


def _table(lua: LuaRuntime, value: Any) -> Any:
    if isinstance(value, dict):
        return lua.table_from({name: _table(lua, part) for name, part in value.items() if part is not None})
    if isinstance(value, list):
        return lua.table_from([_table(lua, part) for part in value])
    return value


def _plain(value: Any) -> Any:
    if lua_type(value) != "table":
        return value
    names = list(value.keys())
    if names and all(isinstance(name, int) for name in names):
        return [_plain(value[name]) for name in sorted(names)]
    return json.loads(json.dumps({name: _plain(value[name]) for name in sorted(names)}))


def keep(item: dict[str, Any], folder: Path) -> None:
    """Write down an object as kubectl shows it, in the layout of Argo CD's own tests, and its verdict in the list beside it."""
    meta = {name: value for name, value in item["metadata"].items() if name not in {"managedFields", "resourceVersion", "uid"}}
    said = health(item)
    reason = said["message"].partition(":")[0]
    name = f"{said['status']}_{reason if ' ' not in reason else 'unseen'}".lower()
    name += "_terminating" if "deletionTimestamp" in meta else ""
    name += "_paused" if reason != "Paused" and "gpucloud.dev/paused" in meta.get("annotations", {}) else ""
    kind = folder / item["kind"]
    (kind / "testdata").mkdir(parents=True, exist_ok=True)
    (kind / "testdata" / f"{name}.yaml").write_text(yaml.safe_dump({**item, "metadata": meta}, sort_keys=False))
    kept = sorted((kind / "testdata").glob("*.yaml"))
    tests = [{"healthStatus": health(yaml.safe_load(path.read_text())), "inputPath": f"testdata/{path.name}"} for path in kept]
    (kind / "health_test.yaml").write_text(yaml.safe_dump({"tests": tests}, sort_keys=False))
