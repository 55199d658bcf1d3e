"""``python -m chartfiles chart|manifests [--check]``: write what is printed, or say what differs."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from chartfiles import manifests, readme, rules, schema, settings
from chartfiles.places import MANIFESTS, README, RULES, SCHEMA, VALUES
from chartfiles.values import read_values
from helmcli import Helm, obtain_helm
from printed import stale, write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def chart_files() -> dict[Path, str]:
    """Return the printed files of the chart, and those with printed parts."""
    text = settings.with_list(VALUES.read_text(encoding="utf-8"))
    values = read_values(text)
    return {
        VALUES: text,
        SCHEMA: schema.as_text(schema.values_schema(values)),
        RULES: rules.with_expressions(RULES.read_text(encoding="utf-8")),
        README: readme.with_tables(README.read_text(encoding="utf-8"), values),
    }


def manifest_files() -> dict[Path, str]:
    """Return every file of deploy/manifests."""
    with tempfile.TemporaryDirectory(prefix="gpucloud-helm-") as home:
        return manifests.files(Helm(obtain_helm(os.environ), Path(home)))


def left_over(files: Mapping[Path, str]) -> list[Path]:
    """Return files of deploy/manifests that nothing prints any more."""
    return [path for path in MANIFESTS.rglob("*.yaml") if path not in files]


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0, or 1 when a checked file differs."""
    parser = argparse.ArgumentParser(prog="python -m chartfiles", description="Print what follows from the chart.")
    parser.add_argument("what", choices=("chart", "manifests"))
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file differs")
    args = parser.parse_args(argv)
    files = chart_files() if args.what == "chart" else manifest_files()
    if args.check:
        for name in stale(files):
            print(f"{name} differs from what is printed: run `make {args.what}`.", file=sys.stderr)
        return 1 if stale(files) else 0
    write(files)
    if args.what == "manifests":
        for path in left_over(files):
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
