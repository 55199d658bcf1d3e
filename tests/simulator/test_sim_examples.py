"""The programs of the page about the Python client run as they are printed, against the simulated cloud."""

import os
import re
import subprocess
import sys

import pytest

from support.clientpage import PROGRAMS, SAID
from support.simcloud import API_KEY, SimCloud


def test_each_program_of_the_page_is_tried():
    assert [found for program, (found, _) in zip(PROGRAMS, SAID, strict=True) if found not in program] == []


@pytest.mark.parametrize(("program", "said"), [(program, said) for program, (_, said) in zip(PROGRAMS, SAID, strict=False)])
def test_a_program_of_the_page_runs(tmp_path, program, said):
    cloud = SimCloud(tmp_path, provision_seconds=0.2)
    try:
        surroundings = os.environ | {"GPUCLOUD_URL": cloud.url, "GPUCLOUD_API_KEY": API_KEY}
        command = [sys.executable, "-W", "error", "-c", program]
        done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)  # noqa: S603 - our own page
        assert (done.returncode, done.stderr) == (0, "")
        assert re.fullmatch(said, done.stdout), done.stdout
        cloud.assert_empty()
    finally:
        cloud.process.close()


@pytest.mark.parametrize("missing", ["GPUCLOUD_URL", "GPUCLOUD_API_KEY"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_the_page_says_which_variable_is_missing(program, missing):
    surroundings = os.environ | {"GPUCLOUD_URL": "http://127.0.0.1:1", "GPUCLOUD_API_KEY": API_KEY}
    del surroundings[missing]
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)  # noqa: S603 - our own page
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"Set {missing}: the cloud's URL and your key are read from variables.\n"
