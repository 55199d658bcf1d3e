"""The programs of the page about the Python client, and what each prints against the simulated cloud."""

from __future__ import annotations

import re

from support.snippets import ROOT

PROGRAMS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "reference" / "python-client.md").read_text(), re.DOTALL)
SAID = [
    ("SyncCloudClient(", "trainer is ONLINE\ntrainer is gone\n"),
    ("CloudClient(", r"VMs: \[\]\nnot ordered: .*no-such-vpc.*\n"),
]
