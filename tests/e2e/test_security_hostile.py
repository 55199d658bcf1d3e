"""Hostile surroundings, hostile manifests: planted variables, paths where text belongs, forged lines, sheer size (S12-S18)."""

from __future__ import annotations

import json
import os
import re
import runpy
from pathlib import Path

from support.manifests import PUBLIC_KEY, gpucloudaccount, gpusnapshot, gpuvm, gpuvpc
from support.waiting import eventually, reach

FLAGS = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "create_grace_seconds": 1,
    "cloud_qps": 500,
    "cloud_burst": 100,
}
# Runs in the operator before anything else, and notes every file that it opens.
SPY = """
import os, sys
_out = os.open(os.environ["OPENED_FILES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
sys.addaudithook(lambda event, args: event == "open" and os.write(_out, (repr(args[0]) + "\\n").encode()))
"""
TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token"
FORGED = 'x\n{"event": "forged"}\r\n2026-01-01 [info] forged\x1b[31m{0}%s{self}\x07'


def planted(folder, proxy):
    """An environment that somebody has prepared."""
    (folder / "sitecustomize.py").write_text(SPY)
    (folder / ".netrc").write_text("default login planted password planted-by-a-test\n")
    (folder / "empty.pem").write_text("")
    proxies = {name: proxy for word in ("http", "https", "all") for name in (f"{word}_proxy", f"{word}_proxy".upper())}
    return {
        **proxies,
        "HOME": str(folder),
        "NETRC": str(folder / ".netrc"),
        "SSL_CERT_FILE": str(folder / "empty.pem"),
        "SSL_CERT_DIR": str(folder),
        "OPENED_FILES": str(folder / "opened"),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")])),
    }


def hostile(words):
    """These words in every field of every kind that takes free text; where a path must be absolute they begin with a slash."""
    path = f"/{words.lstrip('/')}"
    return [
        gpuvm(cluster=words),
        gpuvm(configuration=words),
        gpuvm(resourcePool=words),
        gpuvm(vpc=words),
        gpuvm(image={"operatingSystem": words}),
        gpuvm(image={"customFile": words}),
        gpuvm(image={"snapshot": words}),
        gpuvm(storage={"directMountPath": path, "personalMountPath": path, "tenantSharedMountPath": path}),
        gpuvm(storage={"blockStorageNames": [words]}),
        gpuvm(resourcePool="reserved-acme", nodeName=words),
        gpuvpc(name="acme-hostile", cluster=words),
        gpusnapshot(vmRef=None, vm={"cluster": words, "vpc": "acme", "name": "train"}),
        gpusnapshot(vmRef=None, vm={"cluster": "Msc1", "vpc": words, "name": "train"}),
        gpusnapshot(vmRef=None, vm={"cluster": "Msc1", "vpc": "acme", "name": words}),
        gpucloudaccount(endpoint=words.replace("/", "").replace(":", "")),
        gpucloudaccount(defaults={"resourcePool": words, "operatingSystem": words}),
    ]


def named(fields, prefix):
    return [{**field, "metadata": {"name": f"{prefix}-{number}"}} for number, field in enumerate(fields)]


def test_planted_variables_and_hostile_words(here, operator, trap, tmp_path, figure):
    port, came = trap
    proxy = f"http://127.0.0.1:{port}"
    bait = tmp_path / "bait"
    bait.write_text("made-up-bait-of-the-tests")
    process = operator(**FLAGS, env=planted(tmp_path, proxy), log_format="text", log_level="debug")
    here.apply(gpuvm("honest"))
    reach(here, "gpuvm", "honest", "True/Running")
    manifests = [
        *named(hostile(str(bait)), "path"),
        *named(hostile(TOKEN), "token"),
        *named(hostile(FORGED), "forged"),
    ]
    here.run("apply", "--server-side", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests}))
    kinds = "gpuvms,gpuvpcs,gpusnapshots,gpucloudaccounts"
    standing = {item["metadata"]["name"] for item in here.list(kinds)}
    assert len(standing) >= 3 * 14, "admission leaves most of them to the operator"
    eventually(lambda: not unseen(here, kinds), 60, "a verdict on each")
    here.apply(gpuvm("later"))
    reach(here, "gpuvm", "later", "True/Running")

    assert came == [], "no proxy of the environment"
    opened = (tmp_path / "opened").read_text()
    assert "kube" in opened, "the spy was there"
    assert str(bait) not in opened
    assert "serviceaccount/token" not in opened.replace(f"'{TOKEN}'", "", 1), "looked for at most by the log-in, as ever"
    assert opened.count(TOKEN) <= opened.count("serviceaccount/ca.crt") + 1
    lines = process.process.lines()
    assert not [line for line in lines if re.match(r'(\{"event": "forged"|2026-01-01 \[info\] forged)', line)]
    assert not [line for line in lines if "\x1b" in line or "\x07" in line]
    notes = [event.get("note", "") for event in here.list("events.events.k8s.io")]
    messages = [one["message"] for item in here.list(kinds) for one in item["status"]["conditions"]]
    assert all(text.isprintable() for text in (*notes, *messages)), "on one line, for whoever describes it"
    figure(f"{len(standing) - 2} objects with paths and forged lines in free text: 0 files opened, 0 lines forged")


def unseen(here, kinds):
    return [item["metadata"]["name"] for item in here.list(kinds) if item["status"].get("observedGeneration", -1) < 1]


def test_size_does_no_harm(here, sim, operator, figure):
    process = operator(**FLAGS)
    here.apply(gpuvm("honest"))
    reach(here, "gpuvm", "honest", "True/Running")
    before = resident(process)
    keys = [f"ssh-rsa AAAA{number:08180d}" for number in range(64)]
    here.ok("create", "-f", "-", stdin=json.dumps(gpuvm("as-big-as-may-be", sshKeys=keys)))
    ballast = {**gpuvm("ballast"), "ballast": "x" * 1_400_000}
    here.ok("create", "--validate=false", "-f", "-", stdin=json.dumps(ballast))
    here.ok("create", "-f", "-", stdin=json.dumps(gpuvm("n" * 253)))
    refused = {
        "over 1.5 MB, all told": {**gpuvm("big"), "ballast": "x" * 3_200_000},
        "an annotation of 300 kB": gpuvm("big", annotations={"gpucloud.dev/paused": "x" * 300_000}),
        "a label of 64 characters": {**gpuvm(), "metadata": {"name": "big", "labels": {"x": "x" * 64}}},
        "a key too many": gpuvm("big", sshKeys=[*keys, PUBLIC_KEY]),
        "a key too long": gpuvm("big", sshKeys=["ssh-rsa AAAA" + "x" * 8192]),
        "a name too long": gpuvm("n" * 254),
    }
    for what, manifest in refused.items():
        assert here.run("create", "--validate=false", "-f", "-", stdin=json.dumps(manifest)).returncode != 0, what
    for name in ("as-big-as-may-be", "ballast", "n" * 253):
        reach(here, "gpuvm", name, "True/Running")
    assert "ballast" not in here.get("gpuvm", "ballast"), "what is no field is dropped"
    grown = resident(process) - before
    assert grown < 100
    here.ok("delete", "gpuvm", "--all", "--wait=false")
    eventually(lambda: not here.list("gpuvm"), 60, "all to go")
    sim.assert_empty()
    figure(
        f"the largest object that the apiserver takes costs the operator {max(grown, 0):.0f} MB; {len(refused)} larger: refused"
    )


def resident(process):
    """Memory in MB."""
    (pages,) = re.findall(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text())
    return int(pages) / 1024


def test_no_private_key_passes_admission(here, figure):
    """The same twenty as in a Secret; what was pasted is not repeated to the terminal or the audit log."""
    forms = runpy.run_path(str(Path(__file__).parents[1] / "security" / "test_ssh_keys.py"))
    manifests = [gpuvm(f"key-{number}", sshKeys=[text]) for number, text in enumerate(forms["PRIVATE"].values())]
    pasted = forms["CANARY"]
    astray = [
        gpuvm("astray-1", sshKeys=pasted),
        gpuvm("astray-2", sshKeys=[{"key": pasted}]),
        gpuvm("astray-3", accountRef={"name": f"-----BEGIN {pasted}"}),
        gpuvm("astray-4", sshKeys=None, sshKeysFrom=[{"secretKeyRef": {"name": f"-----BEGIN {pasted}", "key": "a"}}]),
        gpuvm("astray-5", sshKeys=None, sshKeysFrom=[{"configMapKeyRef": {"name": "a", "key": f"-----BEGIN {pasted}"}}]),
        gpucloudaccount("astray-6", secretRef={"name": f"-----BEGIN {pasted}"}),
        gpucloudaccount("astray-7", endpoint=f"https://{pasted}"),
    ]
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": [*manifests, *astray]})
    done = here.run("create", "--dry-run=server", "--validate=false", "-f", "-", stdin=listed)
    assert done.stdout == "", "not one was taken"
    assert len(re.findall(r"is invalid:", done.stderr)) == len(manifests) + len(astray)
    assert pasted not in done.stderr
    figure(f"{len(manifests)} private keys in specs: all refused, none repeated")
