"""``report``: an archive of what helps, and nothing that must stay private."""

import json
import tarfile

import pytest

from gpucloud.cli.plugin.reporting import scrubbed
from support.pluginworld import a_body

PRIVATE = "s3cr3t-made-up"
PODS = "/api/v1/namespaces/gpucloud-system/pods"
POD = {
    "metadata": {"name": "operator-0", "labels": {"app.kubernetes.io/version": "0.1.0"}},
    "spec": {
        "containers": [
            {
                "name": "operator",
                "image": "gpucloud-operator:0.1.0",
                "args": [f"--endpoint=default=https://ann:{PRIVATE}@cloud.example/api?key={PRIVATE}"],
                "env": [{"name": "GPUCLOUD_API_KEY", "value": PRIVATE}],
            }
        ]
    },
    "status": {"phase": "Running"},
}


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        ("https://cloud.example/api", "https://cloud.example/api", "nothing to hide"),
        ("https://ann:pw@cloud.example/api", "https://cloud.example/api", "user and password"),
        ("https://ann:p/w@cloud.example/api", "https://cloud.example/api", "a password with a slash"),
        ("https://cloud.example/a?key=pw&x=1 next", "https://cloud.example/a?[removed] next", "the query"),
        ("https://cloud.example/a#pw", "https://cloud.example/a?[removed]", "the fragment"),
        ('{"url": "https://u:pw@h/x?k=pw", "b": 1}', '{"url": "https://h/x?[removed]", "b": 1}', "in JSON"),
        ("Authorization: Bearer pw", "Authorization: [removed]", "a header"),
        ("Authorization: Digest p w\nnext", "Authorization: [removed]\nnext", "a header of several words"),
        ("X-Api-Key: p w", "X-Api-Key: [removed]", "a header of our own"),
        ('["--api-key", "p w", "-v"]', '["--api-key", "[removed]", "-v"]', "an argument in a list"),
        ("password is: pw", "password is: [removed]", "a sentence"),
        ("credential=pw", "credential=[removed]", "by another name"),
        ('"token": "pw", "b"', '"token": "[removed]", "b"', "a field"),
        ('{\\"apiKey\\": \\"pw\\"}', '{\\"apiKey\\": \\"[removed]\\"}', "JSON in JSON"),
        ("--api-key=pw -v", "--api-key=[removed] -v", "an argument"),
        ('"password": "p \\" w", "b"', '"password": "[removed]", "b"', "a value with a space and a quote"),
        ('"password": "p w', '"password": "[removed]', "a line that was cut"),
        ("secretRef: cloud", "secretRef: cloud", "the name of a Secret is no secret"),
    ],
)
def test_what_is_removed_from_text(text, expected, why):
    assert scrubbed(text) == expected, why


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece", ["a", "a.", "a://", "://", "token=", 'token="', "token ", "bearer ", "@", '\\"', '"-', "cookie:"]
)
def test_a_long_text_takes_no_longer_for_being_in_one_piece(piece):
    """A log has words of any length, as in base64: 200,000 letters took nine minutes."""
    scrubbed(piece * (200_000 // len(piece)))


def contents(path):
    with tarfile.open(path) as tar:
        return {name.partition("/")[2]: tar.extractfile(name).read().decode() for name in tar.getnames()}


@pytest.fixture
def reported(plugin, tmp_path):
    """A function that writes a report and answers with its files."""

    def write():
        path = tmp_path / "report.tar.gz"
        code, out, err = plugin("report", "--file", str(path))
        assert (code, err, out.startswith(f"{path}: ")) == (0, "", True)
        assert path.stat().st_mode & 0o777 == 0o600
        return contents(path)

    return write


def test_a_report_has_what_helps_and_nothing_private(api, reported):
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": PRIVATE, "gpucloud.dev/paused": "true"}
    spec = {"configuration": "A100_40GB_PCIe_1x", "sshKeys": [f"ssh-ed25519 {PRIVATE}"]}
    api.add(a_body("GpuVM", "train", "Stalled", "Rejected", spec=spec, annotations=annotations))
    about = {"apiVersion": "gpucloud.dev/v1alpha1", "kind": "GpuVM", "name": "train"}
    other = {"involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": "theirs"}, "message": PRIVATE}
    event = {"involvedObject": about, "reason": "Rejected", "message": f"see https://u:{PRIVATE}@cloud.example"}
    api.canned["/api/v1/namespaces/team/events"] = {"items": [event, other]}
    api.canned[PODS] = {"items": [POD]}
    api.canned[f"{PODS}/operator-0/log"] = {"event": "starting", "url": f"https://u:{PRIVATE}@cloud.example"}
    files = reported()
    assert PRIVATE not in "".join(files.values())
    (vm,) = json.loads(files["objects.json"])
    assert (vm["spec"]["configuration"], vm["metadata"]["annotations"]) == (
        "A100_40GB_PCIe_1x",
        {"gpucloud.dev/paused": "true"},
    )
    assert [event["object"] for event in json.loads(files["events.json"])] == ["GpuVM/train"]
    (pod,) = json.loads(files["pods.json"])
    assert pod["containers"][0]["env"] == ["GPUCLOUD_API_KEY"]
    assert "starting" in files["logs/operator-0.txt"]
    assert json.loads(files["version.json"])["operators"] == ["0.1.0"]
    assert "Stalled" in files["status.json"]
    assert json.loads(files["doctor.json"])["findings"]


def test_no_secret_is_read(api, reported):
    api.add(a_body("GpuCloudAccount", "default", spec={"secretRef": {"name": "cloud"}}))
    reported()
    assert not [path for path in api.asked if "/secrets" in path]
    assert {method for method, path, _, _ in api.calls if "selfsubject" not in path} == {"GET"}, "it changes nothing"


def test_what_may_not_be_read_is_left_out(api, reported):
    api.refused = {"/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuvms": 403, PODS: 403}
    files = reported()
    assert json.loads(files["pods.json"]) == []
    assert not [name for name in files if name.startswith("logs/")]
    assert "gpuvms" in files["doctor.json"], "the report says what was refused"


def test_a_file_is_not_overwritten(plugin, tmp_path):
    path = tmp_path / "there"
    path.write_text("mine")
    code, _, err = plugin("report", "--file", str(path))
    assert (code, path.read_text()) == (1, "mine")
    assert "name another file with --file" in err
