"""Which histories can show a planted defect at all, told from what their seeds draw: no other needs to be made."""

from __future__ import annotations

from simulation import actors, scenario, situations
from simulation.choices import Choices
from simulation.weather import KINDS, Weather

NONE_DRAWN = "no history of the seeds"  # so begins what a campaign says of a range that draws nothing of what it is aimed at
SETTINGS = ("two replicas", "own account", "accounts", "offers")

# Without this plot, these faults or this setting a history cannot show the defect, or hardly: others are counted and not made.
AIMS: dict[str, tuple[str, ...]] = {
    "whoever waits shortest goes first": ("alternatives are full, too",),
    "a restart forgets who waits since when": ("alternatives are full, too",),
    "each query of what is free comes too soon after the last": ("alternatives are full, too",),
    "an unclear order is left for another cluster": ("full here, and free elsewhere",),
    "a VM elsewhere is looked for where the spec begins": ("full here, and free elsewhere",),
    "a start without capacity is repeated until there is some": ("no capacity to start",),
    "a newcomer does not queue": ("alternatives are full, too",),
    "an alternative is ordered though its wait is not over": ("alternatives edited while nothing is free",),
    "a lost chosen name stays ours": ("made again",),
    "what came back after a doubted listing is taken for the same": ("made again in doubt",),
    "what came back is taken for the same": ("made again when missed",),
    "the words 'not found' make a 5xx a certain refusal": ("write-not-found",),
    "what the acceptance names is not read": ("own-id",),
    "an accepted order is repeated without end": ("accepted and never made",),
    "a listing with another cluster's record is complete": ("half a listing",),
    "a restart shortens the wait between destroying calls": ("accepted and not destroyed",),
    "gone after one listing": ("list-partial",),
    "what was destroyed waits like what was accepted": ("deleted at once",),
    "an accepted absence stays in force": ("accepted, then another key", "accounts"),
    "a snapshot under way does not hold its VM": ("snapshot of a VM that goes",),
    "a VM takes along a snapshot that another is made from": ("copied as it goes",),
    "a namespace copies the disk of another's VM": ("shared account", "own account"),
    "a VM is destroyed before its final snapshot is ready": ("saved and let go",),
    "a lost VM is recreated though its spec does not ask for that": ("lost unasked",),
    "a VM is replaced though its spec does not allow that": ("replaced",),
    "a VM is replaced without a plan in status": ("replaced",),
    "a VM of another spec is Ready": ("replaced",),
    "a VM is replaced without a look at room": ("replaced elsewhere",),
    "a VM is replaced by its own equal": ("replaced elsewhere",),
    "a final snapshot of a plan that was given up counts for the next": ("replaced, given up and replaced again",),
    "a VM is recreated without end": ("lost again and again",),
    "a new process asks the cloud for a final snapshot again at once": ("namespace goes with what must be saved",),
    "a namespace adopts the VPC of another": ("shared account", "own account"),
    "a restart annotation counts again when the status was wiped": ("restart and wipe",),
    "objects that wait for each other quote each other": ("each waits for the other",),
    "a spec that names another place overwrites the record": ("edit immutable",),
    "a poller that dies stays dead": ("cloud-lost",),
    "an order is sent before the finalizer is visible": ("kube-503",),
    "something is bought with a Secret that is being deleted": ("Secret that goes", "accounts"),
    "a Secret is held for objects that have bought nothing": ("Secret that goes", "accounts"),
    "nobody asks for the Lease before a changing call": ("two replicas", "pause"),
    "what bears the name is destroyed without proof": ("made again",),
    "whatever exists is adopted": ("made again",),
    "the finalizer goes with the answer to the destroying call": (),
    "a record of gone is believed after a restart": ("record of gone",),
    "Ready stands while the cloud cannot be listed": ("long outage",),
    "what vanished while the watch was broken is believed for ever": ("watch-410",),
    "an etcd that went back in time is not noticed": ("etcd goes back",),
    "what the owner says while a call waits does not count": ("asleep with a call in hand",),
    "the pause annotation is not heeded": ("left alone for long",),
    "Retain is heeded only when the VM was adopted": ("left alone for long",),
    "another's finding under a chosen name is taken for the order": ("asleep with an order in hand",),
    "a stale listing proves that a name is free": ("name taken before",),
    "a status is written over whatever has changed meanwhile": ("edited as its status is written",),
    "the finalizer is taken off whatever has changed meanwhile": ("paused as it is let go",),
    "a power call is repeated before it can show": ("power shows late",),
    "a destroying call without effect is repeated upon every listing": ("accepted and not destroyed",),
    "a VPC is destroyed with what is in it": ("VPC with somebody in it",),
    "10-mass-disappearance-believed": ("nothing listed",),
    "02-act-though-the-status-was-refused": ("kube-503",),
    "03-name-without-uid": ("delete", "create vm"),
    "04-after-a-restart-nothing-was-asked-for": ("killed with an order in hand",),
    "06-deleted-before-the-id-is-known": ("deleted at once",),
    "09-second-claimant-destroys": ("shared account",),
    "14-credential-goes-before-its-users": ("namespace goes", "accounts"),
    "15-endpoint-named-by-the-tenant": ("endpoint of one's own",),
    "18-finalizer-goes-on-a-refusal": ("may not destroy",),
    "24-status-believed": ("record of another's",),
    "11-woken-and-acting-on-old-facts": ("asleep with a call in hand",),
    "17-older-view-put-over-the-newer": ("late news",),
    "19-failed-listing-read-as-empty": ("cloud-500",),
    "20-partial-listing-believed": ("half a listing",),
    "21-another-tenants-key-believed": ("accepted, then another key", "accounts"),
    "22-retry-after-ignored": ("cloud-429",),
    "23-secret-in-an-error": ("cloud-500",),
    "12-failed-means-not-done": ("lag", "write-unsaid"),
    "an order without a clear answer is sent again at once": ("lag", "write-unsaid"),
    "13-client-repeats-what-changes": ("write-unsaid",),
    "16-no-total-deadline": ("drip",),
    "07-vanished-and-nobody-woken": ("made again",),
    "08-claims-not-unique": ("shared account",),
    "what was adopted is destroyed with its object": ("adopted and let go",),
    "what is to be adopted is bought where it is missing": ("waited for",),
    "an offer that is gone stays": ("offers", "accounts"),
    "an offer is written at each look": ("offers", "accounts"),
    "a rejected offer keeps the others from being tried": ("first offer is wrong",),
    "a lost status is looked for only where the spec says": ("status lost, and another cluster named",),
    "a deletion looks only where the spec says": ("status lost, another cluster named, and deleted",),
    "25-failed-list-of-objects-read-as-empty": ("nobody lists objects",),
}


def meets(seed: int, aim: tuple[str, ...]) -> bool:
    """Whether the history of this seed has all of these: a plot, acts, kinds of faults, settings."""
    if not aim:
        return True
    choices = Choices(seed)
    weather, chosen = Weather(choices), scenario.draw(choices)
    has = {
        *situations.drawn(choices),
        *weather.rates,
        *(actors.next_act(choices) for _ in range(chosen.slots)),
        "two replicas" if chosen.replicas == 2 else "",
        "own account" if chosen.own_account else "accounts",
        "offers" if chosen.settings.offer_seconds else "",
    }
    return has.issuperset(aim)


def known_words() -> tuple[str, ...]:
    """The words by which histories are told apart."""
    return (*situations.PLOTS, *KINDS, *SETTINGS, *actors.WEIGHTS)


def known(word: str) -> bool:
    """Whether histories are told apart by this word."""
    return word in known_words()
