"""``python -m gpucloud`` and the ``gpucloud`` command."""

import sys

from gpucloud.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
