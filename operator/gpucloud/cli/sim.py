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
from typing import TYPE_CHECKING, TextIO

from pydantic import SecretStr

from gpucloud import flags
from gpucloud.cli import variables
from gpucloud.cli.endings import FAILED, MISUSED, refused
from gpucloud.settings import SettingsError
from gpucloud.sim import Knobs, LoopClock, ManualClock, SimConfig, Simulator
from gpucloud.sim.server import serving

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from gpucloud.settings import SimSettings

KNOBS = ("provision_seconds", "destroy_seconds", "stop_seconds", "start_seconds", "snapshot_seconds", "answers")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One flag a setting."""
    flags.add_arguments(parser, known=flags.SIM)
    parser.epilog = (
        "In the settings file each field begins with sim: simPort, simProvisionSeconds. "
        "Exit code: 0 stopped by a signal, 1 an address or file cannot be used while it starts, 2 the settings cannot be used."
    )


def run(args: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT; 2 for unusable settings, 1 when it cannot listen."""
    for words in variables.without_effect(os.environ, flags.variables_of_sim(), all_of=variables.OF_SIM):
        print(f"gpucloud sim: {words}", file=sys.stderr)
    try:
        chosen = flags.load_sim(vars(args))
        config = _config(chosen)
    except SettingsError as error:
        return refused("sim", error, MISUSED)
    try:
        with _ledger(chosen.sim_ledger_file) as ledger:
            return asyncio.run(_serve(chosen, config, ledger))
    except OSError as error:
        taken = f"port {chosen.sim_port} of {chosen.sim_host} is in use: name another one with --port"
        return refused("sim", taken if error.errno == errno.EADDRINUSE else error, FAILED)


def _config(chosen: SimSettings) -> SimConfig:
    knobs = Knobs.model_validate({name: getattr(chosen, f"sim_{name}") for name in KNOBS})
    return SimConfig(seed=chosen.sim_seed, knobs=knobs, api_key=_given_key(chosen.sim_api_key_file))


def _given_key(path: str) -> SecretStr | None:
    if not path:
        return None
    try:
        value = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SettingsError(
            f"--api-key-file {path}: the file cannot be read ({reason}); name a file that holds one API key"
        ) from None
    if not value or any(character.isspace() for character in value):
        raise SettingsError(f"--api-key-file {path}: the file holds spaces, or nothing; put one API key there")
    return SecretStr(value)


@contextlib.contextmanager
def _ledger(path: str) -> Iterator[TextIO | None]:
    if not path:
        yield None
        return
    with Path(path).open("a", encoding="utf-8", buffering=1) as file:
        yield file


async def _serve(chosen: SimSettings, config: SimConfig, ledger: TextIO | None) -> int:
    clock = ManualClock() if chosen.sim_manual_clock else LoopClock(time.time())
    simulator = Simulator(config, clock, None if ledger is None else lambda line: print(line, file=ledger))
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    with contextlib.ExitStack() as files:
        if config.api_key is None:
            _show_key(simulator.api_key, files, printed=chosen.sim_print_api_key)
        async with serving(simulator.handle, chosen.sim_host, chosen.sim_port) as url:
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
