"""Fixtures of the unit tests in more than one folder."""

import pytest


@pytest.fixture
def config(tmp_path):
    """Write a settings file, and return its path."""

    def write(text):
        path = tmp_path / "settings.yaml"
        path.write_text(text)
        return str(path)

    return write
