"""``ssh``: the command that it prints, and what it refuses to take from a status or from its options."""

import pytest

from support.pluginworld import a_body


def a_vm_body(**more):
    return a_body("GpuVM", "train", "Ready", **more)


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ((), "ssh -l ubuntu 198.51.100.2"),
        (("-l", "root", "--private"), "ssh -l root 10.0.0.2"),
        (("--", "-p", "22", "nvidia-smi", "-L"), "ssh -l ubuntu 198.51.100.2 -p 22 nvidia-smi -L"),
        (("--", "echo 'a b'"), "ssh -l ubuntu 198.51.100.2 'echo '\"'\"'a b'\"'\"''"),
    ],
)
def test_ssh_prints_its_command(api, plugin, words, command):
    api.add(a_vm_body(status={"ip": "198.51.100.2", "privateIp": "10.0.0.2"}))
    code, out, _ = plugin("ssh", "train", "--print", *words)
    assert (code, out) == (0, f"{command}\n")


@pytest.mark.parametrize(
    ("address", "code", "says"),
    [
        ("", 1, "has no public address now"),
        ("-oProxyCommand=touch owned", 1, "is not an IP address"),
        ("evil.example", 1, "is not an IP address"),
        ("fe80::1%-oProxyCommand=touch owned", 1, "is not an IP address"),
    ],
)
def test_ssh_takes_nothing_but_an_address_from_a_status(api, plugin, address, code, says):
    api.add(a_vm_body(status={"ip": address}))
    found, out, err = plugin("ssh", "train", "--print")
    assert (found, out) == (code, "")
    assert says in err


@pytest.mark.parametrize(
    ("power", "status", "says"),
    [
        ("Stopped", {}, "Start it:\nkubectl gpucloud start gvm/train --wait --namespace=team\n"),
        ("Running", {}, "Wait for it:\nkubectl gpucloud wait gvm/train --namespace=team\n"),
        (
            "Running",
            {
                "observedGeneration": 2,
                "conditions": [
                    {"type": word, "status": value, "reason": "Rejected", "message": "No."}
                    for word, value in (("Ready", "False"), ("Stalled", "True"))
                ],
            },
            "Do what its status says:\nkubectl gpucloud status gvm/train --namespace=team\n",
        ),
        (
            "Running",
            {"privateIp": "10.0.0.2"},
            "From inside its VPC use:\nkubectl gpucloud ssh gvm/train --private --namespace=team\n",
        ),
    ],
)
def test_ssh_says_how_a_vm_without_an_address_gets_one(api, plugin, power, status, says):
    api.add(a_vm_body(spec={"powerState": power}, status=status))
    code, _, err = plugin("ssh", "train", "--print")
    assert (code, says in err) == (1, True), err


def test_ssh_takes_no_option_for_a_users_name(api, plugin):
    api.add(a_vm_body(status={"ip": "198.51.100.2"}))
    assert plugin("ssh", "train", "--print", "--login=-oProxyCommand=x")[0] == 2
