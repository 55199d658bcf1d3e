"""The demo reads what ``kubectl get --watch`` writes, however it is cut into pieces."""

from __future__ import annotations

import json

import pytest

from demo.watch import Watch


def event(kind, name, **more):
    return json.dumps({"type": kind, "object": {"metadata": {"name": name}, **more}}, indent=4) + "\n"


STORY = event("ADDED", "a", note="ü") + event("ADDED", "b") + event("MODIFIED", "a", note="é") + event("DELETED", "b")


@pytest.mark.parametrize("size", [1, 7, 10_000], ids=["byte by byte", "in pieces", "at once"])
def test_events_become_objects(tmp_path, size):
    output = tmp_path / "watch.log"
    output.touch()
    watch, data = Watch(output), STORY.encode()
    with output.open("ab", buffering=0) as file:
        for start in range(0, len(data), size):
            file.write(data[start : start + size])
            watch.read()
    assert watch.objects == {"a": {"metadata": {"name": "a"}, "note": "é"}}


def test_it_says_whether_anything_happened(tmp_path):
    output = tmp_path / "watch.log"
    output.write_text(event("ADDED", "a"))
    watch = Watch(output)
    assert [watch.read(), watch.read()] == [True, False]
