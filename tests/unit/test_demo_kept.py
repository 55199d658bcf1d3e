"""What is printed when the demo stays up: every command can be pasted, and nothing else is as wide as it likes."""

import shlex

import pytest

from demo import kept

FOLDER = "/tmp/gpucloud-control-plane-1x"  # noqa: S108 - a name, nothing is written
EXPORTS = {"KUBECONFIG": f"{FOLDER}/kubeconfig", "PATH": f"{FOLDER}/bin:$PATH", "LONG": "x" * 100}
SECRET = f"kubectl create secret generic cloud-credential --from-file=apikey={FOLDER}/api-key"
CLOUD = "http://127.0.0.1:40123"


def lines(width):
    names = {
        "cloud": CLOUD,
        "key": f"{FOLDER}/api-key",
        "manifests": "-f deploy/examples/",
        "secret": SECRET,
        "log": f"{FOLDER}/operator.log",
    }
    return kept.text(width, EXPORTS, "/home/me/checkout", **names).split("\n")


def commands(width):
    """Those that a reader would paste, each as the words that a shell makes of it."""
    text = "\n".join(lines(width)).replace("\\\n", "")
    return [shlex.split(line) for line in text.split("\n") if line.startswith("  ")]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_commands_are_the_same_at_every_width(width):
    found = commands(width)
    assert found[:3] == [
        ["cd", "/home/me/checkout"],
        *(["export", f"{name}={EXPORTS[name]}"] for name in ("KUBECONFIG", "PATH")),
    ]
    assert shlex.split(SECRET) in found
    assert ["kubectl", "get", "gpucloud"] in found, "the table, beside the tree of status"
    assert [f"GPUCLOUD_API_KEY_FILE={FOLDER}/api-key", "gpucloud", "orphans", "--endpoint", f"default={CLOUD}"] in found


def test_only_what_cannot_be_broken_is_wider():
    assert [line for line in lines(80) if len(line) > 80] == [f"  export LONG={'x' * 100}"]
    prose = [line for line in lines(80) if line and not line.startswith("  ")]
    assert "Everything runs until Ctrl-C. Type these lines in a second terminal. There" in prose
