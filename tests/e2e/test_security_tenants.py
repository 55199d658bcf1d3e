"""What a tenant writes never makes the operator go elsewhere, or act as somebody else (S7 to S10).

``test_tenants.py`` shows two tenants side by side, and statuses forged whole; here are the names that references may hold.
"""

from __future__ import annotations

import json

import pytest

from support.canaries import WatchedCloud
from support.kstatus import condition, ready
from support.manifests import PUBLIC_KEY, gpucloudaccount, gpusnapshot, gpuvm, gpuvpc, secret
from support.operatorproc import USER
from support.waiting import eventually, gone, reach

FLAGS = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "create_grace_seconds": 1,
    "cloud_qps": 500,
    "cloud_burst": 100,
    "api_key_file": None,
}


@pytest.fixture
def there(kubectl, new_namespace):
    """The other tenant's namespace."""
    return kubectl.in_namespace(new_namespace())


def all_say(here, kinds, wanted, names):
    """Wait until these say ``status/reason`` and nothing else, by one look at all of them; answers their messages."""

    def look():
        items = {item["metadata"]["name"]: item for item in here.list(kinds)}
        others = {name: ready(items[name]) for name in names if ready(items[name]) not in wanted}
        assert not others, others
        return {name: condition(items[name], "Ready")["message"] for name in names}

    return eventually(look, 60, f"all to be {wanted}")


def addresses(port):
    """Names of endpoints that would lead somewhere if any reader took them for an address."""
    hosts = (
        "127.0.0.1",
        "localhost",
        "localhost.",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "[::1]",
        "[::ffff:7f00:1]",
    )
    return (
        *(f"http://{host}:{port}" for host in hosts),
        *(f"{host}:{port}" for host in hosts),
        f"https://127.0.0.1:{port}/api",
        f"//127.0.0.1:{port}",
        f"http://default@127.0.0.1:{port}",
        f"http://127.0.0.1:{port}#default",
        f"http://default\\@127.0.0.1:{port}",
        f"default\r\nHost: 127.0.0.1:{port}",
        f"default=http://127.0.0.1:{port}",
        f"file:///proc/self/environ?{port}",
        "gopher://127.0.0.1/_GET",
        "http://169.254.169.254/latest/meta-data/",
        "http://kubernetes.default.svc/api",
        "../default",
        "127.0.0.1",
        "localhost",
        "169.254.169.254",
        "metadata.google.internal",
        "kubernetes.default.svc",
        "2130706433",
        "127.0.0.1%2f",
        "DEFAULT",
        " default",
        "default ",
        "default\n",
        "default?x",
        "default#x",
        "default\\",
        "(operator)",
        "def\u0430ult",
    )


def test_no_name_of_an_endpoint_is_an_address(here, sim, operator, trap, figure):
    port, came = trap
    names = addresses(port)
    operator(**FLAGS)
    here.apply(secret(apikey=sim.key("ann")["value"]))
    accounts = [gpucloudaccount(f"a{number}", endpoint=name) for number, name in enumerate(names)]
    refused = here.run("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": accounts}))
    standing = {item["metadata"]["name"] for item in here.list("gpucloudaccount")}
    assert standing == {f"a{number}" for number, name in enumerate(names) if not set(name) & set(":/")}
    assert str(port) not in refused.stderr, "what was pasted is not repeated"
    all_say(here, "gpucloudaccount", {"False/UnknownEndpoint"}, standing)
    forged = {"status": {"endpoint": f"http://127.0.0.1:{port}"}}
    here.patch("gpucloudaccount", min(standing), forged, subresource="status")
    here.apply([gpuvm(name, accountRef={"name": name}) for name in standing])
    all_say(here, "gpuvm", {"False/AccountNotReady"}, standing)
    all_say(here, "gpucloudaccount", {"False/UnknownEndpoint"}, standing)
    assert (sim.calls(), came) == ([], []), "nobody was called, here or there"
    figure(
        f"{len(names)} names of endpoints that read like addresses: {len(names) - len(standing)} refused at once, 0 followed"
    )


def test_a_shared_credential_goes_to_its_own_endpoint_only(here, sim, canaries, operator, tmp_path):
    """The operator's own key serves the first endpoint; whoever names the second brings a key of its own (S8)."""
    (tmp_path / "second").mkdir()
    with WatchedCloud(tmp_path / "second", canaries, provision_seconds=0.2) as second:
        theirs, endpoints = second.key("ann"), [f"eu={sim.url}", f"us={second.url}"]
        operator(**{**FLAGS, "api_key_file": sim.api_key_file}, endpoint=endpoints)
        here.apply(
            [
                secret(apikey=theirs["value"]),
                gpucloudaccount("over-there", endpoint="us"),
                secret("none", colour="made-up-blue"),
            ]
        )
        here.apply([gpucloudaccount("penniless", endpoint="us", secretRef={"name": "none"}), gpuvm("own")])
        here.apply([gpuvm("abroad", accountRef={"name": "over-there"}), gpuvm("hopeful", accountRef={"name": "penniless"})])
        reach(here, "gpuvm", "own", "True/Running")
        reach(here, "gpuvm", "abroad", "True/Running")
        reach(here, "gpuvm", "hopeful", "False/AccountNotReady")
        for name, account in (("abroad", "(operator)"), ("hopeful", "(operator)"), ("own", "over-there")):
            here.patch("gpuvm", name, {"status": {"account": account, "tenancy": None}}, subresource="status")
        here.ok("delete", "gpuvm", "--all", "--wait=false")
        reach(here, "gpuvm", "hopeful", "False/DeletionBlocked", says="Retain")  # something may be behind what was forged
        here.patch("gpuvm", "hopeful", {"spec": {"deletion": {"policy": "Retain"}}})
        gone(here, "gpuvm", "own", "abroad", "hopeful")
        assert {call["credential"] for call in second.calls()} == {theirs["id"]}
        assert theirs["id"] not in {call["credential"] for call in sim.calls("DestroyServer")}
        assert "unknown" not in {call["credential"] for call in sim.calls()}, "and theirs never came to ours"
        assert (sim.vms(), second.vms()) == ([], [])


def references(name):
    """Every field that names another object, by what it is, set to ``name``."""
    ref, selector = (name if isinstance(name, dict) else {"name": name} for _ in range(2))
    keyed = {**selector, "key": "ann"}
    return {
        "vm-account": gpuvm(accountRef=ref),
        "vpc-account": gpuvpc(name="acme-stolen", accountRef=ref),
        "snapshot-account": gpusnapshot(vmRef=None, vm={"cluster": "Msc1", "vpc": "acme", "name": "train"}, accountRef=ref),
        "vm-vpc": gpuvm(vpc=None, vpcRef=ref),
        "vm-image": gpuvm(image={"snapshotRef": ref}),
        "vm-keys-secret": gpuvm(sshKeys=None, sshKeysFrom=[{"secretKeyRef": keyed}]),
        "vm-keys-map": gpuvm(sshKeys=None, sshKeysFrom=[{"configMapKeyRef": keyed}]),
        "snapshot-vm": gpusnapshot(vmRef=ref),
        "account-secret": gpucloudaccount(secretRef=ref),
    }


def forms(namespace):
    """How one might try to name what is called ``theirs`` in another namespace."""
    return {
        "plain": "theirs",
        "slash": f"{namespace}/theirs",
        "dots": f"../{namespace}/theirs",
        "path": f"../../{namespace}/secrets/theirs",
        "escaped": f"..%2f{namespace}%2ftheirs",
        "colon": f"{namespace}:theirs",
        "host": f"theirs.{namespace}",
        "domain": f"theirs.{namespace}.svc.cluster.local",
        "up": f"theirs..{namespace}",
        "field": {"name": "theirs", "namespace": namespace},
    }


def attempts(namespace):
    """All fields in all forms, each object under a name of its own, with hints in labels and annotations besides."""
    for form, name in forms(namespace).items():
        for field, manifest in references(name).items():
            meta = {
                "name": f"{field}-{form}",
                "labels": {"gpucloud.dev/namespace": namespace, "gpucloud.dev/account": "theirs"},
                "annotations": {"gpucloud.dev/namespace": namespace, "gpucloud.dev/account": f"{namespace}/theirs"},
            }
            yield {**manifest, "metadata": meta}


def victim(key):
    """What another namespace has, all of it called ``theirs``."""
    people = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs"}, "data": {"ann": PUBLIC_KEY}}
    account = {"accountRef": {"name": "theirs"}}
    return [
        secret("theirs", apikey=key["value"], ann=PUBLIC_KEY),
        people,
        gpucloudaccount("theirs", secretRef={"name": "theirs"}),
        gpuvpc("theirs", name="globex-lab", **account),
        gpuvm("theirs", vpc="globex", **account),
        gpusnapshot("theirs", vmRef={"name": "theirs"}, **account),
    ]


READY = {
    "gpuvpc": "True/Available",
    "gpuvm": "True/Running",
    "gpusnapshot": "True/Completed",
    "gpucloudaccount": "True/Connected",
}
KINDS = ",".join(READY)
WAITING = {
    f"False/{reason}"
    for reason in ("AccountNotReady", "DependencyNotReady", "SSHKeysNotFound", "SecretNotFound", "SourceNotFound")
}


def test_no_reference_leads_into_another_namespace(here, there, sim, operator, audit, figure):
    sim.turn(snapshot_seconds=0.3, snapshot_delete_seconds=0.3, destroy_seconds=0.3)
    ours, theirs = sim.key("ann"), sim.key("gil")
    operator(**FLAGS)
    there.apply(victim(theirs))
    for kind, wanted in READY.items():
        reach(there, kind, "theirs", wanted)
    before, standing = sim.control("ledger")["last"], (sim.vms(), sim.snapshots(), sim.vpcs())
    here.apply([secret(apikey=ours["value"]), gpucloudaccount()])
    tried = list(attempts(there.namespace))
    here.run(
        "apply",
        "--server-side",
        "--validate=false",
        "-f",
        "-",
        stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": tried}),
    )
    accepted = {item["metadata"]["name"]: item for item in here.list(KINDS)}
    assert not [name for name in accepted if name.endswith(("-slash", "-dots", "-path", "-escaped", "-colon"))], (
        "refused at once"
    )
    assert "namespace" not in json.dumps([item["spec"] for item in accepted.values()]), "dropped: there is no such field"

    lying = [(item["kind"].lower(), name) for name, item in accepted.items() if name.endswith("-plain")]
    for kind, name in lying:
        forged = {"status": {"account": f"{there.namespace}/theirs", "tenancy": "globex"}}
        here.patch(kind, name, forged, subresource="status")
    refused = {name for name in accepted if name != "default"}
    all_say(here, KINDS, WAITING, refused)
    here.ok("delete", KINDS, "--all", "--wait=false")
    blocked = {"False/DeletionBlocked"}  # what was forged may be true: it says that Retain is the way out
    eventually(lambda: all(ready(item) in blocked for item in here.list(KINDS)), 60, "all to go, or to say why not")
    stuck = [item for item in here.list(KINDS) if item["metadata"]["name"] != "default"]
    assert {item["metadata"]["name"] for item in stuck} <= {name for _, name in lying}
    for item in stuck:
        here.patch(item["kind"].lower(), item["metadata"]["name"], {"spec": {"deletion": {"policy": "Retain"}}})
    eventually(lambda: not here.list(KINDS), 60, "all of them to go")

    asked = sim.control(f"ledger?since={before}")["entries"]
    assert not [call for call in asked if call["mutating"]], "nothing was made or destroyed by any key"
    assert (sim.vms(), sim.snapshots(), sim.vpcs()) == standing
    read = {one.object for one in audit.requests(user=USER) if one.resource in {"secrets", "configmaps"}}
    foreign = {name for name in read if name.startswith(f"{there.namespace}/")}
    assert foreign == {f"{there.namespace}/theirs"}, "read for its own account only"
    assert not [name for name in read if not name.startswith((f"{there.namespace}/", f"{here.namespace}/"))]
    figure(f"{len(tried)} references to another namespace: {len(tried) - len(accepted) + 1} refused, 0 followed")


GUESSES = 25


def test_guessing_names_tells_nothing(here, sim, operator, figure):
    """Whether the other tenant has a thing of that name or not: the same words, no call about it, and nothing destroyed."""
    theirs = sim.key("gil")["value"]
    for number in range(GUESSES):
        sim.create_vm(f"guess-{number:02}", vpc="globex", tenant="globex")
        sim.create_vpc(f"globex-guess-{number:02}", theirs)
    standing = (sorted(sim.vms()), sorted(sim.vpcs()))
    before = sim.control("ledger")["last"]
    operator(**FLAGS)
    here.apply([secret(apikey=sim.key("ann")["value"]), gpucloudaccount()])
    names = [f"{number:02}" for number in range(2 * GUESSES)]  # the first half are there
    source = {"cluster": "Msc1", "vpc": "globex"}
    here.apply([gpusnapshot(f"s{name}", vmRef=None, vm={**source, "name": f"guess-{name}"}) for name in names])
    here.apply([gpuvpc(f"p{name}", name=f"globex-guess-{name}", adoption="Required") for name in names])
    for kind, letter, wanted in (("gpusnapshot", "s", "False/SourceNotFound"), ("gpuvpc", "p", "False/NotFound")):
        told = all_say(here, kind, {wanted}, [f"{letter}{name}" for name in names])
        words = {message.replace(f"guess-{name[1:]}", "guess-…") for name, message in told.items()}
        assert len(words) == 1, words
    here.ok("delete", "gpusnapshot,gpuvpc", "--all", "--wait=false")
    eventually(lambda: not here.list("gpusnapshot,gpuvpc"), 60, "all guesses to go")
    assert (sorted(sim.vms()), sorted(sim.vpcs())) == standing
    asked = sim.control(f"ledger?since={before}")["entries"]
    assert not [call for call in asked if call["mutating"] or "guess" in str(call["parameters"])], "none was even asked for"
    figure(f"{4 * GUESSES} guessed names, half of them right: the same answer to each")
