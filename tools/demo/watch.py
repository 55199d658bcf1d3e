"""The objects as ``kubectl get --watch`` tells them, read from the file that it writes to.

It must not know what the objects mean nor how they are shown.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ("gpucloudaccounts", "gpuvpcs", "gpuvms", "gpusnapshots")  # in the order in which they are shown


def command(kind: str) -> tuple[str, ...]:
    """The words that follow all objects of one kind; kubectl watches no two kinds at once."""
    return ("get", kind, "--watch", "--output-watch-events", "--output=json")


class Watch:
    """All objects of one kind by name, as of the last ``read``."""

    def __init__(self, output: Path) -> None:
        self._output = output
        self._offset = 0
        self._unread = ""
        self.objects: dict[str, dict[str, Any]] = {}

    def read(self) -> bool:
        """Take in what was written since; answer whether there was any event."""
        self._unread += self._more()
        events = self._events()
        for event in events:
            name = event["object"]["metadata"]["name"]
            if event["type"] == "DELETED":
                self.objects.pop(name, None)
            else:
                self.objects[name] = event["object"]
        return bool(events)

    def _more(self) -> str:
        with self._output.open("rb") as file:
            file.seek(self._offset)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]  # a character may be half written at the very end
        self._offset += len(whole)
        return whole.decode()

    def _events(self) -> list[dict[str, Any]]:
        """Split complete documents off what is unread; a document may spread over many lines."""
        found: list[dict[str, Any]] = []
        decoder = json.JSONDecoder()
        while text := self._unread.lstrip():
            try:
                event, end = decoder.raw_decode(text)
            except json.JSONDecodeError:
                break
            found.append(event)
            self._unread = text[end:]
        return found
