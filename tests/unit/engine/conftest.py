"""What the engine logs is kept instead of printed: printing a traceback takes longer than the test."""

import pytest
from structlog.testing import capture_logs


@pytest.fixture(autouse=True)
def logs():
    with capture_logs() as lines:
        yield lines
