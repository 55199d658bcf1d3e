"""``make demo`` as a stranger runs it: it ends well, reads well in a log, tells the truth, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import pytest

from support.processes import ChildProcess
from support.waiting import eventually

README = Path(__file__).parents[2] / "README.md"
WIDTH = 100  # of a table's row; all else is narrower
LONGEST_SECONDS = 240  # a guard against a hang; half a minute is usual

needs_proc = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc, which this system lacks")


@pytest.fixture
def demo(tmp_path):
    """A factory of running demos."""
    started = []

    def start(*flags):
        command = [sys.executable, "-m", "demo", "--logs", tmp_path / "logs", *flags]
        started.append(ChildProcess(command, name="demo"))
        return started[-1]

    yield start
    for process in started:
        process.close()


def test_the_whole_story(demo):
    process = demo()
    assert process.wait(LONGEST_SECONDS) == 0, process.log.read_text()
    said = process.log.read_text()
    assert said.replace("\n", "").isprintable()
    assert [line for line in said.splitlines() if len(line) > WIDTH] == []
    for told in (
        "GpuCloudAccount default  Ready=False SecretNotFound\n        Waiting for Secret 'cloud-credential'",
        "GpuVM worker             Ready=False AccountNotReady\n        Waiting for GpuCloudAccount 'default'",
        "GpuVpc lab               Ready=True Available",
        "GpuVM worker             Ready=False DependencyNotReady\n        Waiting for GpuSnapshot 'golden'",
        "GpuSnapshot golden       Ready=True Completed",
        "GpuVM builder            Ready=True PoweredOff OFFLINE",
        "GpuVpc lab               Ready=False DeletionBlocked",
    ):
        assert told in said
    assert " ".join(said.splitlines()[-2:]) == (
        "The cloud is empty. 1 VPC, 2 VMs and 1 snapshot were made, each once, and destroyed, each once."
    )


@needs_proc
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda how: how.name)
def test_killed_half_way_it_leaves_nothing(demo, how):
    process = demo()
    process.wait_for_line("Ready=True", LONGEST_SECONDS)
    pids = descendants(process.pid)
    folders = {folder for pid in pids if "gpucloud-control-plane-" in (folder := Path(f"/proc/{pid}/cwd").readlink()).name}
    assert len(pids) >= 10, "two supervisors, etcd, apiserver, cloud, operator, four watches"
    assert len(folders) == 2, "one of the control plane, one of the demo"
    os.kill(process.pid, how)
    process.wait(LONGEST_SECONDS)
    eventually(lambda: not [pid for pid in pids if is_running(pid)], LONGEST_SECONDS, f"none of {pids} runs")
    eventually(lambda: not [folder for folder in folders if folder.exists()], LONGEST_SECONDS, f"{folders} are removed")


@needs_proc
def test_when_the_operator_dies_it_says_so_and_saves_the_logs(demo, tmp_path):
    process = demo()
    process.wait_for_line("Ready=False Creating", LONGEST_SECONDS)
    operator = next(pid for pid in descendants(process.pid) if "operator" in arguments(pid))
    os.kill(operator, signal.SIGKILL)
    assert process.wait(LONGEST_SECONDS) == 1
    said = process.log.read_text()
    assert "demo failed: The operator ended with exit code -9." in said
    assert "GpuVpc           lab" in said.split("demo failed:")[1], "the last status of the objects"
    assert (tmp_path / "logs" / "operator.log").stat().st_size > 0


def test_kept_it_stays_up_and_the_quickstart_of_the_readme_works_there(demo):
    process = demo("--keep")
    process.wait_for_line("  less ", LONGEST_SECONDS)
    told, kept = process.log.read_text().split("Everything runs until Ctrl-C.")
    assert "export " not in told, "one list of exports, with the cloud's address in it"
    offered = kept.replace("\\\n", "").splitlines()
    exports = [line.strip() for line in offered if line.startswith("  export ")]
    names = [line.removeprefix("export ").split("=")[0] for line in exports]
    assert names == ["KUBECONFIG", "KUBECACHEDIR", "PATH", "GPUCLOUD_ENDPOINT"]
    kubeconfig = Path(exports[0].split("=", 1)[1])
    (secret,) = (line for line in offered if line.startswith("  kubectl create secret generic "))
    again = [line for line in offered if line.startswith("  ") and re.search(r" --all|part-of=lab| gpucloud orphans ", line)]
    assert [line.split()[1] for line in again] == ["delete", "gpucloud", "apply", "wait"], "all is deleted, and brought back"
    script = "\n".join([*exports, "command -v kubectl", quickstart(), *again, f"{secret} --dry-run=client -o name"])
    with ChildProcess(["bash", "-euxo", "pipefail", "-c", script], name="quickstart") as typed:
        assert typed.wait(LONGEST_SECONDS) == 0, typed.log.read_text()
        assert f"{kubeconfig.parent}/bin/kubectl" in typed.lines(), "no other one that the reader may have"
        assert 'gpuvm.gpucloud.dev "mine" deleted' in typed.log.read_text()
        assert "No orphans were seen" in typed.log.read_text()
    assert (kubeconfig.parent / "cache").is_dir(), "kubectl's cache goes with the demo"
    assert (kubeconfig.parent / "api-key").read_text() not in process.log.read_text()
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(LONGEST_SECONDS) == 0, "Ctrl-C is how it is meant to end"
    assert process.lines()[-1] == "demo: ended; everything is gone"
    assert not kubeconfig.parent.exists()


def test_a_control_plane_that_cannot_be_had_is_a_clear_error(demo, monkeypatch):
    monkeypatch.setenv("GPUCLOUD_CONTROL_PLANE", "nonsense")
    process = demo()
    assert process.wait(LONGEST_SECONDS) == 1
    assert process.lines()[0].startswith("demo failed: GPUCLOUD_CONTROL_PLANE=nonsense is unknown")


def quickstart() -> str:
    """All shell commands of the README's chapter, in their order."""
    chapter = README.read_text().split("## Quickstart", 1)[1].split("\n## ", 1)[0]
    blocks = re.findall(r"```sh\n(.*?)```", chapter, re.DOTALL)
    assert len(blocks) >= 4, "create, power, offers, delete"
    return "".join(blocks)


def descendants(pid: int) -> list[int]:
    children = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [found for child in children for found in (child, *descendants(child))]


def arguments(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
