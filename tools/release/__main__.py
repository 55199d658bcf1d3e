"""``python -m release``: the steps of a release that are more than one command of somebody else's."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from release import chart, krew, versions
from release.errors import ReleaseError

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Run one step; what does not fit is one clear text and exit code 1."""
    asked = _parser().parse_args()
    try:
        match asked.step:
            case "check":
                print(versions.check(ROOT, asked.tag))
            case "chart":
                print(*chart.pin(ROOT, asked.to, asked.repository, asked.digest), sep="\n")
            case "krew":
                text = krew.manifest((ROOT / krew.MANIFEST).read_text(), asked.version, asked.base, asked.archives)
                asked.to.write_text(text)
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="release", description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    check = steps.add_parser("check", help="see that a tag and all that tells a version agree; print the version")
    check.add_argument("tag")
    pinned = steps.add_parser("chart", help="copy the charts, with the image by its digest")
    pinned.add_argument("--repository", required=True)
    pinned.add_argument("--digest", required=True)
    pinned.add_argument("--to", type=Path, required=True)
    filled = steps.add_parser("krew", help="fill in krew's manifest")
    filled.add_argument("--version", required=True)
    filled.add_argument("--base", required=True, help="where the archives will be, without the last slash")
    filled.add_argument("--archives", type=Path, required=True)
    filled.add_argument("--to", type=Path, required=True)
    return parser


if __name__ == "__main__":
    sys.exit(main())
