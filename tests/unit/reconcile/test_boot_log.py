"""Which class of trouble a boot log shows, and when a VM's boot log is read: late, seldom, and never of a VM that comes up."""

import random
from datetime import timedelta

import pytest

from gpucloud.kinds.bootlog import BootLogFinding, BootTrouble
from gpucloud.kinds.meta import ConditionType
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import Asked, Attempt, CallHistory, Limits, Verb
from gpucloud.reconcile.gpuvm import decide
from gpucloud.reconcile.gpuvm.boot_log import AGAIN, CLASSIFIED, SIGNS, WORDS, classify
from support.builders import NOW, START, a_status, an_order, facts, our_name, present
from support.gpuvmfacts import DELETING
from support.rows import noted

GPU, INIT = "GPUDriverFailed", "CloudInitFailed"
LOGS = [
    ("SeaBIOS\nBooting from Hard Disk...\nNo bootable device.\n", "NoBootDevice", "the firmware finds no disk"),
    ("Boot failed: not a bootable disk", "NoBootDevice", "the disk is empty"),
    ("[    2.1] Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)", "NoBootDevice",
     "the panic is a consequence of the missing root disk"),
    ("Gave up waiting for root file system device.  ALERT!  UUID=x does not exist.", "NoBootDevice", "initramfs"),
    ("error: image 'acme-base.qcow2' not found", "ImageNotFound", "the image is not there"),
    ("Back-off: ImagePullBackOff", "ImageNotFound", "the image cannot be pulled"),
    ("[   12.0] Kernel panic - not syncing: Attempted to kill init!", "KernelPanic", "the kernel stops"),
    ("BUG: unable to handle page fault for address: 0", "KernelPanic", "a defect of the kernel"),
    ("cp: error writing '/var/x': No space left on device\ncloud-init[1]: Traceback", "DiskFull", "cloud-init fails by it"),
    ("Out of memory: Killed process 77 (python3)", "OutOfMemory", "the kernel kills"),
    ("You are in emergency mode. After logging in", "EmergencyMode", "systemd gives up"),
    ("Give root password for maintenance", "EmergencyMode", "as sulogin asks"),
    ("cloud-init[812]: 2026-01-01 util.py[WARNING]: Running module runcmd failed", INIT, "a module failed"),
    ("[FAILED] Failed to start Cloud-init: Config Stage.\n", INIT, "as systemd names it"),
    ("Traceback of cloud-init: none", "Unknown", "no line says that cloud-init failed"),
    ("[FAILED] Failed to start Wait for Network to be Configured.", "NetworkDown", "no network within the time"),
    ("connect: Network is unreachable", "NetworkDown", "no route"),
    ("No DHCPOFFERS received.", "NetworkDown", "no address"),
    ("NVRM: GPU 0000:65:00.0: RmInitAdapter failed!", GPU, "the driver does not start"),
    ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", GPU, "as nvidia-smi says it"),
    ("[FAILED] Failed to start OpenBSD Secure Shell server.\nsshd: no hostkeys available -- exiting.", "SSHFailed", "no keys"),
    ("[FAILED] Failed to start ssh.service - OpenBSD Secure Shell server.", "SSHFailed", "as newer images say it"),
    ("[    0.000000] kernel: command line read\n[    0.000006] systemd: sshd listens on port 22", "Unknown", "all is well"),
    ("", "Empty", "the machine has printed nothing"),
    (" \n\r\n\t", "Empty", "as good as nothing"),
    ("\x00\x1b[31mKERNEL PANIC\x1b[0m\ufffd\U0001f680", "KernelPanic", "control characters and colours, another case"),
    ("\udcff\ud800 lone surrogates", "Unknown", "what no encoding can hold"),
    ("no space left\non device", "Unknown", "words of two lines are no sign"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "trouble", "why"), LOGS, ids=[row[-1] for row in LOGS])
def test_the_class_of_a_log(text, trouble, why):
    assert classify(text) == trouble, why


def test_every_class_has_words_and_an_example():
    assert set(WORDS) == set(BootTrouble)
    assert {trouble for _, trouble, _ in LOGS} == set(BootTrouble) - {BootTrouble.NOT_READABLE}
    assert len({sign.trouble for sign in SIGNS}) == len(SIGNS)


def test_the_end_of_a_long_log_counts():
    noise = "x" * 10_000_000
    assert classify(f"Kernel panic\n{noise}") is BootTrouble.UNKNOWN
    assert classify(f"{noise}\nKernel panic") is BootTrouble.KERNEL_PANIC
    assert classify("Kernel panic\n" + "y" * (CLASSIFIED - 13)) is BootTrouble.KERNEL_PANIC


@pytest.mark.parametrize("line", ["failed to start ", "cloud-init ", "dhcp", "image ", "nvrm:", "no bootable "])
def test_a_log_that_nearly_matches_everywhere_is_classified(line):
    """Of a pattern that goes back and forth over a line, this test would never end."""
    assert classify(line * (CLASSIFIED // len(line))) is BootTrouble.UNKNOWN


def test_any_bytes_have_a_class():
    r = random.Random(14)
    for _ in range(200):
        text = r.randbytes(400).decode(r.choice(("latin-1", "utf-16", "utf-8")), errors="replace")
        assert classify(text) in set(BootTrouble)


# --- when it is read ------------------------------------------------------------------------------------------------------

AFTER, DEADLINE = 600.0, 1800.0
PANIC = "KernelPanic"


def waiting(seconds, *, ordered=None, seen=None, found=None, state="PENDING_READINESS", read=None, **more):
    """Facts of a VM that has been waited for so long.

    ``ordered``, ``seen``, ``found``, ``read``: seconds since its order was recorded, and since it was seen on (else as long),
    the recorded reading, and the call.
    """
    fields = {"progress_deadline_at": at(DEADLINE - seconds), "billed_since": at(-(seconds if seen is None else seen))}
    if found is not None:
        fields["boot_log"] = BootLogFinding(trouble="KernelPanic", read_at=at(-found))
    order = an_order(our_name(), recorded_at=at(-(seconds if ordered is None else ordered)))
    base = a_status("Creating", order=order, **fields)
    attempts = {} if read is None else {Verb.READ_BOOT_LOG: Attempt(Verb.READ_BOOT_LOG, NOW - read, Asked(1), answer=PANIC)}
    history = CallHistory(first_seen=NOW - 5000, attempts=attempts)
    return facts(**{"status": base, "found": present(state), "history": history} | more)


def shown_first(seconds):
    """The status of a VM that no listing has shown on, after so many seconds."""
    return a_status("Creating", order=an_order(our_name()), progress_deadline_at=at(DEADLINE - seconds))


def at(seconds):
    return START + timedelta(seconds=NOW + seconds)


DUE = [
    (waiting(599), False, "it has not waited for long"),
    (waiting(600), True, "now it has"),
    (waiting(5000), True, "a process that has just begun"),
    (waiting(5000, ordered=599), False, "an order of before was lost, and this one is young: seed 92000222"),
    (waiting(5000, ordered=600), True, "this one is old enough"),
    (waiting(5000, seen=599), False, "its order was carried out late: seed 92140296"),
    (waiting(5000, seen=600), True, "it has booted for long enough"),
    (waiting(5000, status=shown_first(5000)), False, "no listing has shown it on before: seed 92032034"),
    (waiting(600, ordered=5000, seen=5000), True, "it was restarted lately, long after it was bought"),
    (waiting(600, state="PENDING"), False, "it does not boot yet"),
    (waiting(600, state="PENDING_RESOURCES"), False, "it waits for room"),
    (waiting(600, state="ONLINE"), False, "it is up"),
    (waiting(600, meta=DELETING), False, "it is to go"),
    (waiting(600, meta=noted(PAUSED="true")), False, "paused"),
    (waiting(600, limits=Limits(boot_log_after=0)), False, "switched off"),
    (waiting(2000, found=AGAIN * AFTER - 1), False, "it was read, perhaps by another process"),
    (waiting(5000, found=AGAIN * AFTER), True, "that is long ago"),
    (waiting(2000, read=1), False, "it was just read, and that is not recorded yet"),
    (waiting(700, found=800), True, "that was in an earlier wait"),
    (waiting(700, read=800), True, "that was in an earlier wait, and is not recorded any more"),
    (waiting(5000, found=-9e9), False, "another clock was ahead"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "due", "why"), DUE, ids=[row[-1] for row in DUE])
def test_when_a_boot_log_is_read(f, due, why):
    assert (decide(f).action is Verb.READ_BOOT_LOG) is due, why


def test_it_is_looked_at_again_when_the_boot_log_is_due():
    assert decide(waiting(500)).requeue_at == NOW + 100
    assert decide(waiting(1000, found=100)).requeue_at == NOW + 800, "the deadline comes first"


def test_a_reading_is_recorded_and_said_once():
    plan = decide(waiting(700, read=2))
    assert plan.status.boot_log == BootLogFinding(trouble="KernelPanic", read_at=at(-2))
    ready = find(plan.status.conditions, ConditionType.READY)
    assert (ready.status, ready.reason) == ("False", "Creating")
    assert "Its boot log shows a kernel panic" in ready.message
    assert ready.message.endswith("kubectl gpucloud logs train -n team")
    for later in (0.0, 0.4, 0.9):  # clocks of whole seconds must not make it look like another reading
        again = waiting(700, read=2 + later, status=plan.status)
        assert decide(again).status.boot_log == plan.status.boot_log


@pytest.mark.parametrize("state", ["ONLINE", "OFFLINE", "PENDING_RESOURCES", "FAILED"])
def test_a_vm_that_does_not_wait_for_readiness_has_no_finding(state):
    assert decide(waiting(700, found=50, state=state)).status.boot_log is None
