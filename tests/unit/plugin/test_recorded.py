"""The recordings in the documents show what the programs print today: `make recordings` makes them again."""

import ast
import re
from itertools import takewhile
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest
import yaml

from demo import story
from demo.processes import Stage
from demo.view import HEADINGS
from recording.__main__ import STATUS_COLUMNS
from recording.svg import CELL_WIDTH
from support.pluginworld import a_body

ROOT = Path(__file__).parents[3]
SVG = "{http://www.w3.org/2000/svg}"
STALE = "the recording is not what is printed today: run `make recordings`"
MESSAGES = (ROOT / "docs" / "reference" / "messages.md").read_text()
LAB, PRICED = {"vpcRef": {"name": "lab"}, "configuration": "A100_40GB_PCIe_1x"}, {"pricePerHour": "2.05", "billedSeconds": 10}


def screens(name):
    """The lines of each frame that are not blank."""
    film = ET.parse(ROOT / "docs" / "images" / f"{name}.svg").getroot().find(f"{SVG}g")  # noqa: S314 - our own
    return [_lines(frame) for frame in film]


def _lines(frame):
    lines = {}
    for text in frame.iter(f"{SVG}text"):
        before = lines.get(text.get("y"), "")
        lines[text.get("y")] = before.ljust(round(float(text.get("x")) / CELL_WIDTH)) + text.text.replace("\u00a0", " ")
    return list(lines.values())


STATUS, DEMO = screens("status"), screens("demo")


def shown(command, at=-1):
    """What a command prints on the last screen, or, of a command that is typed twice, the first time."""
    typed = [place for place, line in enumerate(STATUS[-1]) if line == f"$ {command}"]
    return list(takewhile(lambda line: not line.startswith("$ "), STATUS[-1][typed[at] + 1 :]))


@pytest.fixture
def lab(api, monkeypatch):
    """The objects of deploy/examples with the label lab, as they are when all is Ready."""
    monkeypatch.setenv("COLUMNS", str(STATUS_COLUMNS))
    vms = [
        ("builder", LAB, {"ip": "198.51.100.2"}),
        ("worker", LAB | {"image": {"snapshotRef": {"name": "golden"}}}, {"ip": "198.51.100.3"}),
    ]
    api.add(
        a_body("GpuCloudAccount", "default", reason="Connected", status={"tenant": "acme"}),
        a_body("GpuVpc", "lab", reason="Available", status={"name": "acme-lab", "ipRange": "10.105.0.0/16"}),
        a_body(
            "GpuSnapshot", "golden", reason="Completed", spec={"vmRef": {"name": "builder"}}, status={"rootDiskSize": "100Gi"}
        ),
        *(
            a_body("GpuVM", name, reason="Running", spec=spec, status={"state": "ONLINE", "vmId": name, **PRICED, **status})
            for name, spec, status in vms
        ),
    )
    return api


@pytest.mark.usefixtures("lab")
def test_the_status_page_in_the_recording_is_what_status_prints(plugin):
    code, out, err = plugin("status")
    assert (code, err) == (0, "")
    printed = [line for line in out.replace("Namespace team:", "Namespace gpucloud-demo:").splitlines() if line.strip()]
    assert [_of_any_age(line) for line in shown("kubectl gpucloud status")] == [_of_any_age(line) for line in printed], STALE


def _of_any_age(line):
    return re.sub(r"\$0\.\d\d so far", "$0.01 so far", line)


def test_what_stop_says_in_the_recording_is_what_it_prints(lab, plugin):
    message = "The VM is powered off, as asked. Its disk is still billed."
    assert f"• {message} |" in MESSAGES
    (path,) = (path for path in lab.objects if path.endswith("/worker"))

    def stopped():
        if lab.changed("PATCH"):
            lab.add(a_body("GpuVM", "worker", reason="PoweredOff", message=message, spec={"powerState": "Stopped"}))

    lab.on_read = stopped
    code, out, _ = plugin("stop", "worker", "--wait")
    assert (code, lab.objects[path]["spec"]["powerState"]) == (0, "Stopped")
    assert shown("kubectl gpucloud stop worker --wait") == out.splitlines(), STALE


def test_the_columns_of_get_in_the_recording_are_those_of_the_crd():
    (version,) = yaml.safe_load((ROOT / "crds" / "gpucloud.dev_gpuvms.yaml").read_text())["spec"]["versions"]
    columns = ["NAME", *(one["name"].upper() for one in version["additionalPrinterColumns"] if not one.get("priority"))]
    for at in (0, -1):
        assert shown("kubectl get gpuvm", at)[0].split() == columns, STALE


def test_the_demo_says_in_the_recording_what_it_says_today():
    """Its sentences that are the same in every run, each whole on one screen, and the headings of its table."""
    calls = [node for node in ast.walk(ast.parse(Path(story.__file__).read_text())) if isinstance(node, ast.Call)]
    said = [node.args[0] for node in calls if isinstance(node.func, ast.Attribute) and node.func.attr == "say"]
    sentences = [one.value for one in said if isinstance(one, ast.Constant)]
    assert len(sentences) >= 5
    pages = [" ".join(" ".join(lines).split()) for lines in DEMO]
    missing = [one for one in sentences if not any(one in page for page in pages)]
    assert not missing, STALE
    assert any(line.split() == list(HEADINGS) for lines in DEMO for line in lines), STALE


def messages_in(lines):
    """The messages in the demo's table, each with its wrapped lines joined, without one that the screen cuts off."""
    found, at = [], None
    for line in lines:
        if re.match(r" {2}\S", line):
            if at is not None:
                found[at] += f" {line.strip()}"
            continue
        at = None
        if re.match(r"Gpu\w+ +\S+ +(True|False) ", line):
            at = len(found)
            found.append("")
    return found[: at if at is not None and lines[-1].startswith(" ") else None]


def test_the_table_of_the_demo_in_the_recording_shows_messages_of_today():
    """Each of their sentences that names no object and no value, as the reference has them."""
    sentences = {
        one for lines in DEMO for found in messages_in(lines) for one in re.findall(r"[A-Z][^.:'\d`]+(?:\.|: )", found)
    }
    assert len(sentences) >= 8
    messages = MESSAGES.replace("`", "")  # the page marks commands
    assert {one for one in sentences if one.strip() not in messages} == set(), STALE


@pytest.mark.parametrize("program", ["operator", "sim"])
def test_the_programs_in_the_recording_are_started_with_the_flags_of_today(program):
    stage = SimpleNamespace(plane=SimpleNamespace(audit_log="a log"), key_file="a file")
    words = Stage.operator_words(stage, "http://cloud") if program == "operator" else Stage.cloud_words.fget(stage)
    shown_of = {" ".join(" ".join(lines).replace("\\ ", "").split()) for lines in DEMO}
    typed = {found for page in shown_of for found in re.findall(rf"gpucloud {program} (.*?)(?= [A-Z]| gpucloud sim|$)", page)}
    flags = {word for word in words if str(word).startswith("--")}
    assert flags in [set(re.findall(r"--[\w-]+", found)) for found in typed], STALE


def test_the_recording_says_nothing_of_the_machine_that_made_it():
    assert not [line for lines in DEMO for line in lines if "on PATH is not used" in line], STALE
