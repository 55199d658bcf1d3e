"""Public SSH keys from files of the user. What a file holds is not shown: it may be a private key."""

from __future__ import annotations

from pathlib import Path

from gpucloud.cli.plugin.creation import vm_manifest
from gpucloud.cli.plugin.errors import ExitCode, PluginError

USUAL = ("id_ed25519.pub", "id_ecdsa.pub", "id_rsa.pub")  # in the order in which ssh offers them, the safest first
OPTION = "--ssh-key: "


def usual() -> tuple[str, ...]:
    """The first usual file that is there, if any."""
    found = (Path.home() / ".ssh" / name for name in USUAL)
    return next(((str(path),) for path in found if path.is_file()), ())


def keys(files: tuple[str, ...]) -> tuple[str, ...]:
    """The keys that these files hold.

    Raises:
        PluginError: one of them cannot be read, or holds no public key.
    """
    return tuple(key for file in files for key in vm_manifest.public_keys(_read(file), file))


def refusal(file: str) -> str:
    """What is wrong with a file that was typed as an answer; nothing if it holds a public key."""
    try:
        keys((file,))
    except PluginError as error:
        return str(error).removeprefix(OPTION)
    return ""


def _read(file: str) -> str:
    try:
        return Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, RuntimeError, UnicodeDecodeError) as error:  # RuntimeError: ~NAME of a user that there is not
        reason = getattr(error, "strerror", None) or error
        do = "Name the file of a public key."
        raise PluginError(f"{OPTION}{file} cannot be read ({reason}).", ExitCode.MISUSED, do=do) from None
