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
        ('["--proxy-passphrase", "p w", "-v"]', '["--proxy-passphrase", "[removed]", "-v"]', "another argument in a list"),
        ("password is: pw", "password is: [removed]", "a sentence"),
        ("credential=pw", "credential=[removed]", "by another name"),
        ('"token": "pw", "b"', '"token": "[removed]", "b"', "a field"),
        ('{\\"apiKey\\": \\"pw\\"}', '{\\"apiKey\\": \\"[removed]\\"}', "JSON in JSON"),
        ("--api-key=pw -v", "--api-key=[removed] -v", "an argument"),
        ('"password": "p \\" w", "b"', '"password": "[removed]", "b"', "a value with a space and a quote"),
        ('"password": "p w', '"password": "[removed]', "a line that was cut"),
        ("secretRef: cloud", "secretRef: cloud", "the name of a Secret is no secret"),
        ("holds 'ApiKey pw-Zz9'", "holds 'ApiKey [removed]'", "the service's own scheme"),
        ("ApiKey\u00a0secretword was revoked", "ApiKey [removed] was revoked", "a key of letters, behind another space"),
        ("apikey Zz9-1 was revoked", "apikey [removed] was revoked", "the scheme in another case"),
        ("the api key Zz9pw1 is expired", "the api key [removed] is expired", "a sentence"),
        ("API key: pw", "API key: [removed]", "a name with a space"),
        ("apikey%3Dpw", "apikey%3D[removed]", "as in a URL"),
        ("Pwd=p;w&x Server", "Pwd=[removed] Server", "a connection string"),
        ("passphrase: pw", "passphrase: [removed]", "of a key"),
        ("aws_secret_access_key=pw", "aws_secret_access_key=[removed]", "of an object store"),
        ("private-key: pw", "private-key: [removed]", "another key"),
        ("X-Amz-Signature=pw", "X-Amz-Signature=[removed]", "what a URL is signed with"),
        ("PASSWORD\t=>\tpw", "PASSWORD\t=>\t[removed]", "an arrow"),
        ("password hunter2 refused", "password [removed] refused", "a password that looks like one"),
        ("token is 'p w' here", "token is '[removed]' here", "in quotes"),
        ("accessToken Zz9pw12", "accessToken [removed]", "without a colon"),
        ("proxy ann:pw@proxy.example:3128", "proxy [removed]@proxy.example:3128", "user and password without a scheme"),
        ("HTTPS_PROXY=ann:p/w@[::1]:3128", "HTTPS_PROXY=[removed]@[::1]:3128", "a password with a slash, without a scheme"),
        ("got eyJhbGciOi.eyJzdWIi.s-gn_1, bad", "got [removed], bad", "a JWT"),
        (
            "a\n-----BEGIN OPENSSH PRIVATE KEY-----\npw\n-----END OPENSSH PRIVATE KEY-----\nb",
            "a\n[removed]\nb",
            "a private key",
        ),
        ('{"m": "-----BEGIN PRIVATE KEY-----\\npw", "b": 1}', '{"m": "[removed]", "b": 1}', "a private key that is cut off"),
        ("img:0.1@sha256:1234", "img:0.1@sha256:1234", "the digest of an image"),
        ("x.example:5000/img:0.1@sha256:12", "x.example:5000/img:0.1@sha256:12", "an image of a registry with a port"),
        ("the API key was refused", "the API key was refused", "prose"),
        ("neither apikey nor username with password in it", "neither apikey nor username with password in it", "names of keys"),
        ("the Secret 'cloud-1' is missing", "the Secret 'cloud-1' is missing", "the name of a Secret in a sentence"),
        ("ann@example.org at 12:30", "ann@example.org at 12:30", "an address and a time"),
    ],
)
def test_what_is_removed_from_text(text, expected, why):
    assert scrubbed(text) == expected, why


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece",
    [
        *(
            "a",
            "a.",
            "a://",
            "://",
            "token=",
            'token="',
            "token ",
            "bearer ",
            "@",
            '\\"',
            '"-',
            "cookie:",
            "a:",
            "=a:",
            "eyJ",
            "eyJa.",
        ),
        *(
            "api key ",
            "api",
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN ",
            "1 ",
            "password 1",
            "token  ",
            "access_key",
            "=>",
            " ",
        ),
    ],
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
        assert (code, err, out.startswith(f"{path} is written. ")) == (0, "", True)
        assert path.stat().st_mode & 0o777 == 0o600
        return contents(path)

    return write


def test_a_report_has_what_helps_and_nothing_private(api, reported):
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": PRIVATE, "gpucloud.dev/paused": "true"}
    spec = {"configuration": "A100_40GB_PCIe_1x", "sshKeys": [f"ssh-ed25519 {PRIVATE}"]}
    api.add(a_body("GpuVM", "train", "Stalled", "Rejected", spec=spec, annotations=annotations))
    about = {"apiVersion": "gpucloud.dev/v1alpha1", "kind": "GpuVM", "name": "train"}
    meta = {"metadata": {"name": "train.1"}}
    other = {**meta, "involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": "theirs"}, "message": PRIVATE}
    event = {**meta, "involvedObject": about, "reason": "Rejected", "message": f"see https://u:{PRIVATE}@cloud.example"}
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
