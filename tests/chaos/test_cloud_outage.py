"""An outage with many objects, the request budget, Retry-After, and that one credential's trouble is no other's (D7, D8, D19).

The catalogue's ten minutes with 1,000 objects are ``OUTAGE`` seconds with 60 here, and 500 in the whole.
"""

from __future__ import annotations

import time
from email.utils import formatdate
from functools import partial

import pytest

from chaos.rig.calls import CLOUD
from chaos.rig.campaign import Run
from chaos.rig.link import Link
from chaos.rig.oracles import Expected, violations
from chaos.rig.reference import reference
from chaos.rig.rules import answer, nth
from chaos.rig.strangers import plant
from chaos.rig.tour import ONE_VM, gone, one_vm, reach
from chaos.rig.workloads import RUNNING, WORKLOADS
from support.kstatus import ready
from support.manifests import gpucloudaccount, gpuvm, secret
from support.simcloud import API_KEY
from support.waiting import eventually

pytestmark = pytest.mark.timeout(1200)

MANY, LITTLE, OUTAGE = 500, 60, 12.0
BUDGET = {"cloud_qps": 40, "cloud_burst": 20}
OUTAGES = {
    **{str(status): {"kind": "status", "status": status} for status in (429, 500, 502, 503, 504)},
    "silence": {"kind": "silence", "seconds": 30},
    "reset": {"kind": "reset"},
}
USUAL = {"cloud_qps": 10, "cloud_burst": 20, "poll_pending_seconds": 2, "poll_steady_seconds": 10, "create_grace_seconds": 30}
MINUTE, TENTH = 60.0, 0.1
TRIES = 4  # orders for one object: at once, after 5, 10, 20 s, whatever the answer
FASTEST = 5.0  # listings a second and kind: the least spacing of two listings of one cluster
AFTER = {
    "absent": "",
    "3 seconds": "3",
    "a date": "date",
    "0": "0",
    "negative": "-5",
    "nonsense": "soon",
}
LONGEST_PAUSE = 300.0
CONNECTED, THROTTLED = "True/Connected", "Unknown/ApiUnavailable"


def test_an_outage_while_many_are_ordered(rig, campaign):
    runs = [
        Run(f"{name}, ordering", partial(ordering, rig, fault, MANY if campaign.whole else LITTLE))
        for name, fault in OUTAGES.items()
    ]
    campaign.carry_out("D8", [run for run in runs if not campaign.whole or run.name[:3] in {"503", "sil"}], sample=1, at_once=1)


def test_an_outage_while_many_stand(rig, campaign):
    """Nothing is changed, however many there are it costs a few calls, and they turn neither red nor wrong."""
    campaign.carry_out("D8", [Run("standing", partial(standing, rig, MANY if campaign.whole else LITTLE))])


def test_a_cloud_that_fails_for_minutes_is_hardly_asked(rig, campaign):
    """I7: after a minute a tenth of what the budget allows, whatever is wanted of it meanwhile."""
    runs = [Run(f"{name} for minutes", partial(hardly_asked, rig, OUTAGES[name])) for name in ("429", "503", "reset")]
    campaign.carry_out("I7", runs, sample=1)


def test_a_small_budget_is_kept(rig, campaign):
    """I7 where it binds: the polls alone would ask for three times as much; a kill in between begins a bucket anew."""
    runs = [Run(f"{name}, 5 a second", partial(frugal, rig, name)) for name in ("vm", "vpc", "snapshot")]
    campaign.carry_out("I7", runs, sample=1)


def test_retry_after_is_kept(rig, campaign):
    """Of every form; nothing at all is sent with that credential for as long as was asked."""
    runs = [Run(f"Retry-After {name}", partial(told_to_wait, rig, text)) for name, text in AFTER.items()]
    campaign.carry_out("D7", runs, sample=1, at_once=6)


def test_an_absurd_wait_is_capped_and_concerns_one_credential(rig, campaign):
    """1e9 s: one account is silent for five minutes (the whole waits for its return); the other works meanwhile."""
    campaign.carry_out("D19", [Run("1e9 seconds", partial(one_key_throttled, rig, whole=campaign.whole))])


def test_one_endpoint_down_is_no_harm_to_the_other(rig, campaign):
    """Down, or flapping; the healthy one creates and destroys meanwhile, and the other is served when it is back."""
    runs = [Run(how, partial(one_endpoint_down, rig, how)) for how in ("500", "refused", "flapping")]
    campaign.carry_out("D19", runs, sample=1)


def ordering(rig, fault, count):
    names = [f"vm-{number}" for number in range(count)]
    with rig.trial(**BUDGET, cloud_timeout_seconds=3, poll_steady_seconds=2) as trial:
        plant(trial)
        trial.blind_seconds = 60.0
        trial.start()
        trial.apply(gpuvm())
        trial.reach("gpuvm", "train", RUNNING)
        trial.sim.fault(**fault)
        begin = time.monotonic()
        trial.apply(*(gpuvm(name) for name in names))
        time.sleep(max(0.0, OUTAGE - (time.monotonic() - begin)))
        during = [seen.call for seen in trial.cloud.seen if seen.received >= begin]
        lasted = time.monotonic() - begin
        trial.sim.clear_faults()
        eventually(lambda: all(ready(item) == RUNNING for item in trial.here.list("gpuvm")), 300, "all to run")
        found = too_many(during, lasted, count)
        if len(trial.sim.committed("CreateServer")) != count + 1:
            found.append(f"{len(trial.sim.committed('CreateServer'))} VMs were made for {count + 1} objects")
        return found + violations(trial, Expected(standing={f"GpuVM/{name}": RUNNING for name in ("train", *names)}))


def frugal(rig, name):
    workload = WORKLOADS[name]
    with rig.trial(**workload.options | {"cloud_qps": 5, "cloud_burst": 5}) as trial:
        workload.prepare(trial)
        trial.blind_seconds = 30.0
        trial.cloud.add(nth("GetServers", 30), "answered", trial.crash())
        trial.start()
        workload.live(trial)
        return violations(trial, Expected(summary=reference(rig, name).summary))


def hardly_asked(rig, fault):
    """Some run, some are to stop, to go, to come: with the budget, the retries and the fast polls that are the default."""
    stay, stop, leave, come = (
        [f"{word}-{number}" for number in range(LITTLE // 4)] for word in ("stay", "stop", "leave", "come")
    )
    with rig.trial(**USUAL) as trial:
        plant(trial)
        trial.blind_seconds = 2 * MINUTE + 60.0
        trial.start()
        trial.apply(*(gpuvm(name) for name in (*stay, *stop, *leave)))
        eventually(lambda: all(ready(item) == RUNNING for item in trial.here.list("gpuvm")), 300, "all to run")
        trial.sim.fault(**fault)
        begin = time.monotonic()
        trial.apply(*(gpuvm(name) for name in come), *(gpuvm(name, powerState="Stopped") for name in stop))
        trial.here.delete("gpuvm", *leave)
        time.sleep(max(0.0, 2 * MINUTE - (time.monotonic() - begin)))
        asked = [seen.call for seen in trial.cloud.seen if begin + MINUTE <= seen.received < begin + 2 * MINUTE]
        trial.sim.clear_faults()
        gone(trial, "gpuvm", *leave, patience=300)
        standing = dict.fromkeys((*stay, *come), RUNNING) | dict.fromkeys(stop, "True/PoweredOff")
        for name, wanted in standing.items():
            reach(trial, "gpuvm", name, wanted, patience=300)
        most = TENTH * USUAL["cloud_qps"] * MINUTE
        found = [f"I7: {len(asked)} calls in the second minute, {most:g} allowed: {asked[:9]}"] if len(asked) > most else []
        return found + violations(trial, Expected(standing={f"GpuVM/{name}": wanted for name, wanted in standing.items()}))


def too_many(during, lasted, count):
    """What an outage may cost: some listings whatever the number of objects, and a few tries each."""
    listings = sum(call.word.startswith("Get") for call in during)
    orders = sum(call.word == "CreateServer" for call in during)
    found = []
    if listings > FASTEST * lasted + 20:
        found.append(f"{listings} reads in {lasted:.0f} s")
    if orders > TRIES * count:
        found.append(f"{orders} orders for {count} objects")
    return found


def standing(rig, count):
    names = [f"vm-{number}" for number in range(count)]
    with rig.trial(**BUDGET, blind_after_seconds=5, poll_pending_seconds=1, poll_steady_seconds=2) as trial:
        plant(trial)
        trial.blind_seconds = 60.0
        trial.start()
        trial.apply(*(gpuvm(name) for name in names))
        eventually(lambda: all(ready(item) == RUNNING for item in trial.here.list("gpuvm")), 300, "all to run")
        trial.cloud.down()
        begin = len(trial.cloud.seen)
        eventually(
            lambda: all(ready(item).startswith("Unknown") for item in trial.here.list("gpuvm")),
            120,
            "all to say that they are unseen",
        )
        trial.cloud.up()
        eventually(lambda: all(ready(item) == RUNNING for item in trial.here.list("gpuvm")), 120, "all to run again")
        sent = [seen.call for seen in trial.cloud.seen[begin:]]
        found = [f"{call} was sent" for call in sent if call.writes]
        found += [f"{len(sent)} calls for {count} objects"] if len(sent) > 60 else []
        trial.here.delete("gpuvm", *names)
        gone(trial, "gpuvm", *names, patience=300)
        return found + violations(trial)


def told_to_wait(rig, text):
    with rig.trial(poll_pending_seconds=0.3) as trial:
        plant(trial)
        trial.blind_seconds = 30.0
        said = throttling(text)
        rules = [
            trial.cloud.add(lambda call, word=word: call.word == word, "received", said)
            for word in ("GetServers", "CreateServer", "DestroyServer")
        ]
        trial.start()
        one_vm(trial)
        assert all(rule.struck for rule in rules)
        seconds = {"3": 3.0, "date": 2.5}.get(text, 0.0)
        return too_soon(trial, seconds) + violations(trial, Expected(summary=ONE_VM))


def throttling(text):
    """A 429 that asks to wait in this form; a date is four seconds from when it is told."""

    async def do(call):
        asked = formatdate(time.time() + 4, usegmt=True) if text == "date" else text
        return await answer(429, b"{}", **({"Retry_After": asked} if asked else {}))(call)

    return do


def too_soon(trial, seconds):
    """What was received within so many seconds of an answer that asked to wait; the answer's own way is allowed for."""
    found = []
    for throttled in (one for one in trial.cloud.seen if "a rule acted" in one.note):
        after = [
            one for one in trial.cloud.seen if throttled.received + 0.2 < one.received < throttled.received + seconds - 0.1
        ]
        found += [
            f"{one.call} came {one.received - throttled.received:.1f} s after {throttled.call}, {seconds:g} asked"
            for one in after
        ]
    return found


def one_key_throttled(rig, *, whole):
    with rig.trial(own_account=False) as trial:
        plant(trial)
        trial.blind_seconds = LONGEST_PAUSE
        slow, quick = trial.sim.key("ann"), trial.sim.key("ann")
        for name, key in (("slow", slow), ("quick", quick)):
            trial.apply(secret(name, apikey=key["value"]), gpucloudaccount(name, secretRef={"name": name}))
        trial.start()
        trial.apply(gpuvm("train", accountRef={"name": "slow"}))
        reach(trial, "gpuvm", "train", RUNNING)
        trial.sim.fault(kind="status", status=429, retry_after="1e9", credential=slow["id"], nth=1)
        trial.wait(lambda: trial.sim.control("faults")["faults"][0]["struck"], "the slow one to be told to wait")
        since = trial.sim.control("ledger")["last"]
        trial.apply(gpuvm("p0", accountRef={"name": "quick"}))
        trial.reach("gpuvm", "p0", RUNNING)
        trial.here.delete("gpuvm", "p0")
        trial.gone("gpuvm", "p0")
        found = [f"{call['operation']} with the throttled key" for call in used(trial, slow, since)]
        if whole:
            eventually(lambda: used(trial, slow, since), LONGEST_PAUSE + 60, "the throttled key to be used again")
            trial.here.delete("gpuvm", "train")
            gone(trial, "gpuvm", "train")
        standing = {"GpuCloudAccount/quick": CONNECTED, "GpuCloudAccount/slow": CONNECTED if whole else THROTTLED}
        return found + violations(trial, Expected(standing=standing if whole else {**standing, "GpuVM/train": RUNNING}))


def used(trial, key, since):
    return trial.sim.control(f"ledger?credential={key['id']}&since={since}")["entries"]


def one_endpoint_down(rig, how):
    other = rig.take_sim()
    with rig.trial(own_account=False) as trial:
        plant(trial)
        trial.blind_seconds = 60.0
        broken = Link(CLOUD, trial.wire, other.url)
        try:
            trial.start(endpoint=[f"good={trial.cloud.url}", f"bad={broken.url}"])
            for name in ("good", "bad"):
                trial.apply(secret(name, apikey=API_KEY), gpucloudaccount(name, secretRef={"name": name}, endpoint=name))
                trial.apply(gpuvm(f"{name}-1", accountRef={"name": name}))
                reach(trial, "gpuvm", f"{name}-1", RUNNING)
            harm(how, broken, other)
            trial.apply(gpuvm("good-2", accountRef={"name": "good"}), gpuvm("bad-2", accountRef={"name": "bad"}))
            trial.reach("gpuvm", "good-2", RUNNING)
            trial.here.delete("gpuvm", "good-1", "good-2")
            trial.gone("gpuvm", "good-1", "good-2")
            if how == "flapping":
                flap(broken)
            other.clear_faults()
            broken.up()
            for name in ("bad-1", "bad-2"):
                reach(trial, "gpuvm", name, RUNNING)
                trial.here.delete("gpuvm", name)
            gone(trial, "gpuvm", "bad-1", "bad-2")
            assert len(other.committed("CreateServer")) == 2
            assert other.vms() == []
            return violations(
                trial, Expected(standing={f"GpuCloudAccount/{name}": "True/Connected" for name in ("good", "bad")})
            )
        finally:
            broken.close()
            rig.give_back(other)


def harm(how, link, sim):
    if how == "500":
        sim.fault(kind="status", status=500)
    else:
        link.down()


def flap(link):
    for _ in range(5):
        link.up()
        time.sleep(1)
        link.down()
        time.sleep(1)
