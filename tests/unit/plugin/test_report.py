"""``report``: an archive of what helps, and nothing that must stay private."""

import json
import re
import tarfile
from pathlib import Path

import pytest
import yaml

from gpucloud.cli.plugin.report.contents import names_in, of_object
from gpucloud.cli.plugin.report.scrubbing import scrubbed
from support.pluginworld import a_body

PRIVATE = "s3cr3t-made-up"
RECORDED = sorted((Path(__file__).parents[3] / "deploy/argocd/resource_customizations").glob("*/*/testdata/*.yaml"))
PRIVATE_WORD = "q7Rk2Vb9Lx4Tz1Wm8Nc5"
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
PUTTY = (
    "a\nPuTTY-User-Key-File-2: ssh-ed25519\nEncryption: none\nComment: ann\nPublic-Lines: 1\nAAAAC3\n"
    "Private-Lines: 1\nAAAAIPw\nPrivate-MAC: 00ff\nb"
)
FURTHER = ("secretKey", "secret_key", "apiKeys", "credentials", "passwords", "secrets", "tokens", "pass", "auth")


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
        (
            '{\\\\\\"apiKey\\\\\\": \\\\\\"p, w\\\\\\"}',
            '{\\\\\\"apiKey\\\\\\": \\\\\\"[removed]\\\\\\"}',
            "JSON in JSON in JSON",
        ),
        (
            '{\\"password\\": \\"p\\\\\\"w\\", \\"b\\"',
            '{\\"password\\": \\"[removed]\\", \\"b\\"',
            "a quote within JSON in JSON",
        ),
        (
            "{\\u0022token\\u0022:\\u0022pw\\u0022,",
            "{\\u0022token\\u0022:\\u0022[removed]\\u0022,",
            "quotes as .NET escapes them",
        ),
        ("password\\u003dpw", "password\\u003d[removed]", "an equals sign as Gson escapes it"),
        ("{&quot;token&quot;:&quot;pw&quot;}", "{&quot;token&quot;:&quot;[removed]&quot;}", "JSON in a page of HTML"),
        ("<apiKey>pw</apiKey>", "<apiKey>[removed]</apiKey>", "XML"),
        ('"token": ["p w", "p w"], "b"', '"token": [removed], "b"', "a list"),
        ('"token": [\n "pw"\n ]', '"token": [removed]', "a list of several lines"),
        ('"token": {"value": "pw"}, "b"', '"token": [removed], "b"', "a mapping"),
        ("password: |-\n  p w\n  pw\nnext", "password: [removed]\nnext", "a block of YAML"),
        ('{"m": "password: >\\n  pw\\nnext"}', '{"m": "password: [removed]\\nnext"}', "a block of YAML in JSON"),
        (
            "[('X-Api-Key', 'pw'), ('Cookie', 'a=pw; b')]",
            "[('X-Api-Key', '[removed]'), ('Cookie', '[removed]')]",
            "headers as pairs",
        ),
        ("[(b'x-api-key', b'p w'), (b'a', b'b')]", "[(b'x-api-key', b'[removed]'), (b'a', b'b')]", "headers as bytes"),
        ("{b'api_key': b'p w'}", "{b'api_key': b'[removed]'}", "a field of bytes"),
        ('{"name": "GPUCLOUD_API_KEY", "value": "pw"}', '{"name": "GPUCLOUD_API_KEY", "value": "[removed]"}', "a variable"),
        ("=$(date -u +%Y-%m-%dT%H:%M:%SZ)", "=$(date -u +%Y-%m-%dT%H:%M:%SZ)", "a command of our own"),
        ("curl -u ann:pw https://x.example", "curl -u ann:[removed] https://x.example", "an argument of curl"),
        ("https:\\/\\/ann:pw@x.example\\/a", "https:\\/\\/x.example\\/a", "a URL whose slashes are escaped"),
        ("GET /api?x=1&key=pw", "GET /api?x=1&key=[removed]", "a URL without host"),
        ("password=p,w'x}y next", "password=[removed] next", "marks within a word"),
        ("password=pw, user=ann", "password=[removed], user=ann", "a mark behind a word"),
        ("API key 'letters' is not known", "API key '[removed]' is not known", "letters in quotes"),
        *((f"{name}: pw", f"{name}: [removed]", "by a further name") for name in FURTHER),
        ("p\\u0061ssword: x", "password: [removed]", "a name with an escape of JSON or YAML"),
        ('{"m": "p\\\\u0061ssword: x"}', '{"m": "password: [removed]"}', "such a name in a text in JSON"),
        ('"\\x70\\U00000061ssword": x', '"password": [removed]', "further escapes of YAML"),
        ("%70assword%3Dx", "password%3D[removed]", "a name as a URL may have it"),
        ("password: 'it''s Hunter'", "password: '[removed]'", "a quote within quotes, in YAML"),
        ("password: >-\n\n  Hunter\nnext: 1", "password: [removed]\nnext: 1", "a block after an empty line"),
        ("password: &a Hunter", "password: &a [removed]", "behind an anchor"),
        ("AccountKey=Hunter;E=1", "AccountKey=[removed]", "a connection string"),
        *(
            (f"{name}=Hunter", f"{name}=[removed]", "a name that says of which form it is, or a short one")
            for name in ("secretValue", "apiKeyValue", "tokenText", "password2", "credential_value", "bearer", "jwt", "pw")
        ),
        ("ran: login --password Hunter", "ran: login --password [removed]", "a flag and its value in one text"),
        ("-client-secret 'a b' -x 1", "-client-secret [removed] -x 1", "a flag's value in quotes"),
        ("password%20%3D%20Hunter", "password %3D [removed]", "spaces as a URL may have them"),
        ("--no-secret-finalizer off", "--no-secret-finalizer off", "a flag of the operator that holds the word"),
        ("--api-key-file /run/key", "--api-key-file /run/key", "the path of a file"),
        ("the key Zz9pw12 was refused", "the key [removed] was refused", "a key in a sentence"),
        ("the key is Zz9pw12", "the key is [removed]", "said of a key"),
        ("sent key=zz9pw1 to it", "sent key=[removed] to it", "a key behind an equals sign"),
        ("login ann/hunter was refused", "login ann/[removed] was refused", "a login in a sentence"),
        ("the credential Zz9pw12 has expired", "the credential [removed] has expired", "a credential in a sentence"),
        ('{"key": "p w", "b": 1}', '{"key": "[removed]", "b": 1}', "a field that is called no more than key"),
        ('{\\"key\\": \\"p w\\"}', '{\\"key\\": \\"[removed]\\"}', "such a field in JSON in JSON"),
        (PUTTY, "a\n[removed]\nb", "a key of PuTTY"),
        (PUTTY.replace("\n", "\\n"), "a\\n[removed]\\nb", "a key of PuTTY in JSON"),
        ("Private-Lines: 2\nAAAA\nBB", "[removed]", "a key of PuTTY, cut off at both ends"),
        ("the API key was refused", "the API key was refused", "prose"),
        ("a login and/or a key, the key of team/train", "a login and/or a key, the key of team/train", "more prose"),
        ("key 'apiKey' is missing", "key 'apiKey' is missing", "the name of a key"),
        ("of the key SHA256:Zz9pw12", "of the key SHA256:Zz9pw12", "the fingerprint of a key"),
        ("neither apikey nor username with password in it", "neither apikey nor username with password in it", "names of keys"),
        ('cannot list resource "secrets" in API group', 'cannot list resource "secrets" in API group', "a resource"),
        ("to Secret 'cloud-credential': The Secret stays", "to Secret 'cloud-credential': The Secret stays", "a sentence"),
        ("{'password': 12345}", "{'password': [removed]}", "a number of Python"),
        ('"kind": "ApiKey",\n "endpoint": "a"', '"kind": "ApiKey",\n "endpoint": "a"', "a kind, and the next field"),
        ('"heldSecrets": ["cloud"]', '"heldSecrets": ["cloud"]', "names of Secrets"),
        ('"provenSecret": {"name": "a"}', '"provenSecret": {"name": "a"}', "the name of a Secret"),
        ('["secrets", "gpuvms"]', '["secrets", "gpuvms"]', "resources"),
        ("compass: north, author: ann", "compass: north, author: ann", "words that a name is part of"),
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
            "token:[",
            "token: |\\n ",
            "token: |\n ",
            "token=,",
            "\\",
            '\\"token\\":\\"',
            "'token', '",
            "<token>",
            "-u a:",
            "&key=",
            "token: '",
            "password '",
            "PuTTY-User-Key-File-2:",
            "Private-Lines:",
            "key ",
            "key 1",
            "login a/",
            '"key": "',
            '\\"key\\":',
            "\\u0061",
            "aB3/",
            "aB3",
            "ssh-a ",
            "commit ",
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


def test_of_a_container_beside_the_operator_no_argument_is_in_the_report(api, reported):
    """Whoever put it there may have put a password into a command of a shell."""
    ours = {"name": "operator", "args": ["operator", "--workers", "3"]}
    theirs = {"name": "proxy", "args": ["sh", "-c", f"echo root:{PRIVATE} | chpasswd"]}
    pod = {"metadata": {"name": "operator-0"}, "status": {"phase": "Running"}, "spec": {"containers": [ours, theirs]}}
    api.canned[PODS] = {"items": [pod]}
    files = reported()
    assert PRIVATE not in "".join(files.values())
    (shown,) = json.loads(files["pods.json"])
    assert [one["args"] for one in shown["containers"]] == [["operator", "--workers", "3"], "3, which are not shown"]


def test_names_of_objects_stay_where_nothing_but_their_look_is_like_a_secret(api, reported):
    """The VM that was adopted has a name as a machine makes them, and so has the key of the Secret with SSH keys."""
    name, key = "vm0a1b2c3d4e5f6a7b8c9d", "id_ed25519"
    spec = {"vmName": name, "sshKeysFrom": [{"secretKeyRef": {"name": "keys", "key": key}}]}
    api.add(a_body("GpuVM", name, "Stalled", "Rejected", spec=spec))
    api.canned[PODS] = {"items": [POD]}
    said = f"team/{name}: Waiting for the key '{key}' of the Secret 'keys'; login team/{name}"
    api.canned[f"{PODS}/operator-0/log"] = {"event": f"{said}; refused {PRIVATE_WORD}"}
    files = reported()
    assert f"{said}; refused [removed]" in files["logs/operator-0.txt"]
    (vm,) = json.loads(files["objects.json"])
    assert (vm["metadata"]["name"], vm["spec"]["vmName"]) == (name, name)
    assert vm["spec"]["sshKeysFrom"][0]["secretKeyRef"]["key"] == key


def test_the_id_of_an_order_stays(api, reported):
    """The operator draws it at random, and tells of the order by it; clusters may have any name."""
    order, cluster = "9f86d081884c7d65-mzx7ntfklm", "Xk9mQ2vL7pRt"
    api.add(a_body("GpuVM", "train", "Stalled", "Rejected", status={"order": {"id": order, "state": "Sent"}}))
    api.add(a_body("GpuCloudAccount", "default", status={"clusters": [cluster]}))
    api.canned[PODS] = {"items": [POD]}
    api.canned[f"{PODS}/operator-0/log"] = {"event": f"order {order} in {cluster}, {PRIVATE_WORD}"}
    files = reported()
    assert f"order {order} in {cluster}, [removed]" in files["logs/operator-0.txt"]
    assert order in files["objects.json"]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_of_a_real_object_nothing_but_keys_and_queries_are_removed(path):
    """As the operator wrote them: names, UIDs, ids of orders, reasons and messages stay. An image may have a signed URL."""
    body = of_object(yaml.safe_load(path.read_text()))
    text = json.dumps(body, indent=1, ensure_ascii=False, default=str)
    assert scrubbed(text, frozenset(names_in(body))) == re.sub(r"\.(qcow2|sha256)\?[^\s\"]+", r".\1?[removed]", text)


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
    assert "\nName another file with --file" in err
