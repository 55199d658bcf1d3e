"""``gpucloud sim``: run the simulated cloud as a server until a signal stops it.

It knows flags, files and signals. What the cloud does is the business of ``gpucloud.sim``.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import secrets
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

from pydantic import SecretStr, TypeAdapter, ValidationError

from gpucloud.cli import variables
from gpucloud.sim import Knobs, LoopClock, ManualClock, SimConfig, Simulator
from gpucloud.sim.server import serving
from gpucloud.spelling import expected

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pydantic_core import ErrorDetails

_ENV = variables.OF_SIM
_SWITCHES = {
    "print_api_key": "print a made-up API key instead of writing it to a file",
    "manual_clock": "let time stand still until /_sim/clock/advance moves it",
}
_SPEEDS = {
    "provision_seconds": "from CreateServer to ONLINE",
    "destroy_seconds": "from DestroyServer until the record vanishes",
    "stop_seconds": "from StopServer to OFFLINE",
    "start_seconds": "from StartServer to ONLINE",
    "snapshot_seconds": "from CreateSnapshot until readyToUse",
}


class _Flag(NamedTuple):
    """A flag that takes a value."""

    text: str
    default: str | None = None
    metavar: str | None = None


_FLAGS = {
    "host": _Flag("address to listen on", "127.0.0.1"),
    "port": _Flag("port to listen on; 0 picks a free one", "8080"),
    **{name: _Flag(text, str(getattr(Knobs(), name)), "S") for name, text in _SPEEDS.items()},
    "api_key_file": _Flag("file that holds the API key to accept; without it one is made up", metavar="F"),
    "seed": _Flag("seed of faults that strike by chance", "0", "N"),
    "answers": _Flag("form of the answers: plain or wrapped", Knobs().answers),
    "ledger_file": _Flag("append the ledger to this file, a JSON object a line", metavar="F"),
}
_SWITCH = TypeAdapter(bool)  # as the operator reads its own variables


class SimSettingsError(Exception):
    """A flag, environment variable or file that cannot be used; the text says which."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags; each takes its default from the environment variable GPUCLOUD_SIM_… of the same name."""
    for name, flag in _FLAGS.items():
        variable = f"{_ENV}{name.upper()}"
        shown = "" if flag.default is None else f" (default {flag.default})"
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            default=os.environ.get(variable, flag.default),
            help=f"{flag.text}{shown}; also {variable}",
            metavar=flag.metavar,
        )
    for name, text in _SWITCHES.items():
        variable = f"{_ENV}{name.upper()}"
        on = bool(_is_on(variable))  # one that says neither is refused when the settings are read
        parser.add_argument(f"--{name.replace('_', '-')}", action="store_true", default=on, help=f"{text}; also {variable}")
    parser.epilog = (
        "Exit code: 0 stopped by a signal, 1 an address or file cannot be used while it starts, 2 the settings cannot be used."
    )


def run(args: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT; 2 for unusable settings, 1 when it cannot listen."""
    known = [f"{_ENV}{name.upper()}" for name in (*_FLAGS, *_SWITCHES)]
    for words in variables.without_effect(os.environ, known, all_of=_ENV):
        print(f"gpucloud sim: {words}", file=sys.stderr)
    try:
        config, port = _config(args)
    except SimSettingsError as error:
        print(f"gpucloud sim: {error}", file=sys.stderr)
        return 2
    try:
        with _ledger(args.ledger_file) as ledger:
            return asyncio.run(_serve(args, config, port, ledger))
    except OSError as error:
        taken = f"port {args.port} of {args.host} is in use: name another one with --port"
        print(f"gpucloud sim: {taken if error.errno == errno.EADDRINUSE else error}", file=sys.stderr)
        return 1


def _config(args: argparse.Namespace) -> tuple[SimConfig, int]:
    try:
        knobs = Knobs.model_validate({name: getattr(args, name) for name in _SPEEDS} | {"answers": args.answers.lower()})
    except ValidationError as error:
        raise SimSettingsError("; ".join(map(_expected, error.errors()))) from None
    for name in _SWITCHES:
        variable = f"{_ENV}{name.upper()}"
        if _is_on(variable) is None:
            raise SimSettingsError(f"{variable}: expected true or false, not {os.environ[variable]!r}")
    seed, port = _whole(args.seed), _whole(args.port)
    if seed is None:
        raise SimSettingsError(f"--seed: expected a whole number, not {args.seed!r}")
    if port is None or not 0 <= port <= 65_535:
        raise SimSettingsError(f"--port: expected a whole number from 0 to 65535, not {args.port!r}")
    return SimConfig(seed=seed, knobs=knobs, api_key=_given_key(args.api_key_file)), port


def _is_on(variable: str) -> bool | None:
    """Whether a variable switches something on; None if it says neither. One that is empty or not set does not."""
    try:
        return _SWITCH.validate_python(os.environ.get(variable) or "false")
    except ValidationError:
        return None


def _whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _expected(error: ErrorDetails) -> str:
    name = str(error["loc"][0])
    wanted = expected(("plain", "wrapped"), str(error["input"]))
    if name != "answers":
        wanted = f"expected a number of seconds, 0 or more, not {error['input']!r}"
    return f"--{name.replace('_', '-')}: {wanted}"


def _given_key(path: str | None) -> SecretStr | None:
    if not path:
        return None
    try:
        value = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SimSettingsError(
            f"--api-key-file {path}: the file cannot be read ({reason}); name a file that holds one API key"
        ) from None
    if not value or any(character.isspace() for character in value):
        raise SimSettingsError(f"--api-key-file {path}: the file holds spaces, or nothing; put one API key there")
    return SecretStr(value)


@contextlib.contextmanager
def _ledger(path: str | None) -> Iterator[TextIO | None]:
    if not path:
        yield None
        return
    with Path(path).open("a", encoding="utf-8", buffering=1) as file:
        yield file


async def _serve(args: argparse.Namespace, config: SimConfig, port: int, ledger: TextIO | None) -> int:
    clock = ManualClock() if args.manual_clock else LoopClock(time.time())
    simulator = Simulator(config, clock, None if ledger is None else lambda line: print(line, file=ledger))
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    with contextlib.ExitStack() as files:
        if config.api_key is None:
            _show_key(simulator.api_key, files, printed=args.print_api_key)
        async with serving(simulator.handle, args.host, port) as url:
            print(f"gpucloud sim listening on {url}", flush=True)
            await stopped.wait()
    return 0


def _show_key(key: SecretStr, files: contextlib.ExitStack, *, printed: bool) -> None:
    """Say the made-up key, or write it where only this user can read it, for as long as the simulator runs."""
    if printed:
        print(f"gpucloud sim api key: {key.get_secret_value()}", flush=True)
        return
    path = Path(tempfile.gettempdir()) / f"gpucloud-sim-{secrets.token_hex(6)}.key"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    files.callback(path.unlink, missing_ok=True)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(key.get_secret_value())
    print(f"gpucloud sim api key file: {path}", flush=True)
