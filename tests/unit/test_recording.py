"""A recording: what a program shows on a terminal becomes frames, and frames become one SVG."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from recording.__main__ import plain
from recording.svg import LAST_SECONDS, draw
from recording.terminal import Frame, Run, Terminal

IMAGES = Path(__file__).parents[2] / "docs" / "images"
SVG = "{http://www.w3.org/2000/svg}"


def texts(frame: Frame) -> list[str]:
    return ["".join(run.text for run in line) for line in frame.lines if line]


def test_what_a_program_redraws_at_once_is_no_frame_and_its_end_is():
    terminal = Terminal(20, 4)
    terminal.type("count")
    script = "print('one', end='\\r'); print('\\x1b[32mtwo\\x1b[0m  x')"
    assert terminal.run([sys.executable, "-c", script], os.environ) == 0
    assert texts(terminal.frames[0]) == ["$ count"]
    assert texts(terminal.frames[-1]) == ["$ count", "two  x"]
    assert terminal.frames[-1].lines[1][0] == Run(0, "two", "green")


def test_a_program_that_fails_says_so():
    assert Terminal(20, 4).run([sys.executable, "-c", "raise SystemExit(3)"], os.environ) == 3


def test_the_drawing_is_xml_with_a_frame_each_and_keeps_columns():
    frames = [Frame(((Run(0, "a < b", bold=True),),), 9.0), Frame(((Run(2, "NAME  AGE", "green"),),), 1.0)]
    root = ET.fromstring(draw(frames, 20, 2, "a & b"))  # noqa: S314 - our own
    film = root.find(f"{SVG}g")
    assert [text.text for text in film.iter(f"{SVG}text")] == ["a\u00a0<\u00a0b", "NAME\u00a0\u00a0AGE"]
    assert len(film) == 2
    style = root.find(f"{SVG}style").text
    assert f"animation:play {1.6 + LAST_SECONDS:.2f}s" in style, "a long pause is cut"


def test_a_folder_of_temporary_files_is_taken_out():
    (frame,) = plain([Frame(((Run(0, "export KUBECONFIG=/dev/shm/x-1/kubeconfig"),),), 1.0)])
    assert texts(frame) == ["export KUBECONFIG=kubeconfig"]


@pytest.mark.parametrize("name", ["demo", "status"])
def test_the_recordings_in_the_documents_are_whole(name):
    root = ET.parse(IMAGES / f"{name}.svg").getroot()  # noqa: S314 - our own
    shown = " ".join(text.text for text in root.iter(f"{SVG}text"))
    assert {"demo": "The\u00a0cloud\u00a0is\u00a0empty", "status": "gpucloud\u00a0status"}[name] in shown
