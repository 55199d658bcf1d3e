"""An interpreter that has imported the product: each start of it is a fork. A script, run in the product's environment.

Requests are read from standard input and answered on standard output, one JSON object a line: ``{"argv", "env", "log"}``
starts ``gpucloud`` and answers its ``pid``; ``{"poll": pid}`` answers its ``code``, or null while it runs. When the input ends
it ends, and the kernel ends with it what it has started.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import signal
import sys
from typing import Any

IMPORTED = ("gpucloud.app", "gpucloud.cli.main", "gpucloud.cli.operator", "gpucloud.cli.orphans", "gpucloud.cli.sim")
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_PR_SET_PDEATHSIG = 1


def serve() -> list[str] | None:
    """Answer requests until there are no more. In a fork of this process: return what it is to be run with."""
    codes: dict[int, int] = {}
    me = os.getpid()
    for line in iter(sys.stdin.readline, ""):
        request = json.loads(line)
        if "poll" in request:
            answer: dict[str, Any] = {"code": _polled(request["poll"], codes)}
        else:
            pid = os.fork()
            if pid == 0:
                _become(request, me)
                return ["gpucloud", *request["argv"]]
            codes.pop(pid, None)  # of an earlier one with this number: there are 32,768 of them, and a long run comes round
            answer = {"pid": pid}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    return None


def _polled(pid: int, codes: dict[int, int]) -> int | None:
    if pid not in codes:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            codes[pid] = os.waitstatus_to_exitcode(status)
    return codes.get(pid)


def _become(request: dict[str, Any], parent: int) -> None:
    """Take on what a program that is started gets: its output, its surroundings, nobody's signals."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    output, nothing = os.open(request["log"], os.O_WRONLY | os.O_APPEND), os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(output)
    os.close(nothing)
    os.environ.clear()
    os.environ.update(request["env"])
    signal.signal(signal.SIGINT, signal.default_int_handler)


def run() -> int:
    """Import, serve; in a fork run the product."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a person's Ctrl-C is for the tests
    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()
    argv = serve()
    if argv is None:
        return 0
    sys.argv = argv
    code: int = sys.modules["gpucloud.cli.main"].main()
    return code


if __name__ == "__main__":
    sys.exit(run())
