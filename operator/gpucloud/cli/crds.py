"""``gpucloud crds``: print, write or check the custom resource definitions, and their schemas for editors.

It knows files and differences; what stands in them is decided by the kinds.
"""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gpucloud.kinds.crd import custom_resource_definition, to_yaml
from gpucloud.kinds.definitions import ALL_DEFINITIONS
from gpucloud.kinds.jsonschema import file_name, json_schema, to_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Print to standard output unless told to write or check."""
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--write", metavar="DIR", type=Path, help="write the definitions into this folder")
    mode.add_argument("--check", metavar="DIR", type=Path, help="exit with 1 if the folder's files differ")
    parser.add_argument("--schemas", metavar="DIR", type=Path, help="also write or check the JSON schemas in this folder")
    parser.epilog = (
        "Without --write and --check the definitions are printed. "
        "Exit code: 0 done, or nothing differs, 1 a checked file differs, 2 wrong usage."
    )


def run(args: argparse.Namespace) -> int:
    """Return 0, 1 when a checked file differs, or 2 when ``--schemas`` is given alone."""
    crds: Path | None = args.write or args.check
    if crds is None and args.schemas:
        print("gpucloud crds: --schemas needs --write or --check: add one of them", file=sys.stderr)
        return 2
    if crds is None:
        print("".join(_definitions().values()), end="")
        return 0
    files = {crds / name: text for name, text in _definitions().items()}
    if args.schemas is not None:
        files |= {args.schemas / name: text for name, text in _schemas().items()}
    return _check(files) if args.check else _write(files)


def _definitions() -> dict[str, str]:
    return {item.file_name: to_yaml(custom_resource_definition(item)) for item in ALL_DEFINITIONS}


def _schemas() -> dict[str, str]:
    return {file_name(item.kind): to_json(json_schema(custom_resource_definition(item))) for item in ALL_DEFINITIONS}


def _write(files: Mapping[Path, str]) -> int:
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")
    return 0


def _check(files: Mapping[Path, str]) -> int:
    stale = 0
    for path, text in files.items():
        found = path.read_text(encoding="utf-8") if path.exists() else ""
        if found == text:
            continue
        stale = 1
        difference = difflib.unified_diff(
            found.splitlines(), text.splitlines(), f"{path} (as it is)", f"{path} (as printed)", lineterm=""
        )
        print("\n".join(difference))
    if stale:
        print("These files are printed from the code and differ from it: run 'make crds'.", file=sys.stderr)
    return stale
