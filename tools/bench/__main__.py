"""``python -m bench``: measure, or report what was measured before; 1 when anything of ours went wrong."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import printed
from bench import kept, page, runs
from bench.environment import CHECKOUT, of_image
from bench.errors import BenchError
from bench.results import OURS, Run, from_json, to_json
from bench.table import report

if TYPE_CHECKING:
    from collections.abc import Sequence

OUT = Path("out") / "bench"
INTERRUPTED = 130  # as a shell says it of Ctrl-C


def _sizes(text: str) -> tuple[int, ...]:
    found = tuple(int(part) for part in text.split(","))
    if any(not 1 <= objects <= 10_000 for objects in found):
        raise argparse.ArgumentTypeError("between 1 and 10,000: the simulated cloud has no room for more")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="What the operator costs, beside two peers.")
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("run", help="measure, print a table, and keep the results")
    measure.add_argument("--objects", metavar="N,…", type=_sizes, default=(200, 1_000), help="numbers of GpuVMs (200,1000)")
    measure.add_argument("--no-peers", action="store_true", help="only the product; the peers are measured up to 1,000 anyway")
    measure.add_argument("--budget", choices=("none", "default"), default="none", help="the product's request budget (none)")
    measure.add_argument("--image", action="store_true", help="the product in its image, built if it is missing (as root)")
    measure.add_argument("--out", metavar="DIR", type=Path, default=OUT, help=f"where results go (default {OUT})")
    again = commands.add_parser("page", help="print results into the documentation")
    again.add_argument("results", metavar="FILE", type=Path, nargs="*", help="results to keep; without any those that are kept")
    return parser


def measure(args: argparse.Namespace) -> int:
    """Run, print and keep: after each operator at each size, so that an interruption loses one of them."""
    runs.check_platform()
    with of_image(os.environ) if args.image else contextlib.nullcontext(CHECKOUT) as environment:
        wishes = runs.Wishes(args.objects, not args.no_peers, args.budget == "default", args.out / "logs", environment)
        for found in runs.run(wishes):
            args.out.mkdir(parents=True, exist_ok=True)
            (args.out / f"{found.name}.json").write_text(json.dumps(to_json(found), indent=1) + "\n")
            (args.out / f"{found.name}.md").write_text(report(found))
    print(report(found))
    print(f"Kept in {args.out}/{found.name}.json and .md. `make bench-page RESULTS=FILE` prints them into the documentation.")
    return int(any(result.failure for result in found.results if result.operator == OURS))


def write_page(files: Sequence[Path]) -> int:
    """Keep results of earlier runs in place of those that were kept, and print them into the documentation."""
    if files:
        kept.save(kept.of(map(_read, files)))
    printed.write(page.pages())
    return 0


def _read(file: Path) -> Run:
    try:
        return from_json(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BenchError(f"{file} holds no results of a run: {error!r}") from error


def main(argv: Sequence[str] | None = None) -> int:
    """Whatever happens, all processes end with this one."""
    args = _parser().parse_args(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return measure(args) if args.command == "run" else write_page(args.results)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nbench: interrupted; its processes are gone", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
