"""Every message that people read says what is the case, and what to do or what happens next. The page of all is as printed."""

from __future__ import annotations

import ast
import re

import pytest

from gpucloud.cli.plugin.model.explanations import explanations
from gpucloud.website import SITE
from support.messages import judge
from support.messages.admission import refusals
from support.messages.calls import accepted
from support.messages.conditions import said
from support.messages.named import unreal
from support.messages.program import Module, Scope
from support.messages.reading import Frame, UnreadableError, read
from support.messages.sources import DONE, EVENT, texts, unread

SETTLED = ("Ready True", "Succeeded", "Event")
CONDITIONS = [item for item in said() if not item.condition.startswith(SETTLED)]
FRAMED = ("Unknown", "Dependency", "Account", "CloudInit")  # the cause is told by the message that holds them
ERRORS = (
    *("PluginError", "UsageError", "SettingsError", "NoCluster", "NotDoneError", "ValueError"),
    *("ConsoleRefusedError", "failed_check", "print"),
)
CLIENTS = ("CallerError", "WaitError")  # of the Python client: what its caller can mend
SOURCES = texts(*ERRORS, *CLIENTS, "KeyProblemError", "page")
REPORTS = texts("tell", "Verdict", "Warning Event", "Finding")
PARTS = texts(*FRAMED)
# What another message quotes, which says to correct the kubeconfig or the Secret; a CloudError's kind says whether to try
# again.
QUOTED = texts("ConfigError", "CredentialError", "CloudError")


@pytest.mark.parametrize("message", CONDITIONS, ids=lambda item: f"{item.kind} {item.reason}")
def test_a_condition_says_what_is_the_case_and_what_to_do_or_what_comes(message):
    assert judge.cause(message.words), message.words
    calls_a_person = "Stalled" in message.condition or message.condition == "Warning Event"
    assert judge.way_out(message.words) or (not calls_a_person and judge.goes_on(message.words)), message.words


@pytest.mark.parametrize("message", said(), ids=lambda item: f"{item.kind} {item.reason}")
def test_a_condition_is_short_enough_to_be_read(message):
    assert len(judge.own_words(message.words)) <= judge.LONGEST, message.words


DELETIONS = [item for item in CONDITIONS if item.reason in {"DeletionBlocked", "DeletionHeld"}]
KEPT_BY = re.compile(r"spec\.deletion\.policy: Retain: kubectl gpucloud retain \w+/\w+ --namespace=\w+(?:; |$)")


@pytest.mark.parametrize("message", DELETIONS, ids=lambda item: f"{item.kind} {item.reason}")
def test_a_deletion_that_the_spec_can_end_names_the_command_for_it(message):
    if message.kind != "GpuCloudAccount":  # an account names the objects for it
        assert len(KEPT_BY.findall(message.words)) == message.words.count("Retain"), message.words


def test_there_are_deletions_to_judge():
    assert {item.kind for item in DELETIONS if "Retain" in item.words} >= {"GpuVM", "GpuVpc", "GpuSnapshot"}


@pytest.mark.parametrize("text", [text for text in SOURCES if not text.ways], ids=lambda item: item.place)
def test_an_error_says_what_is_wrong_and_what_to_do(text):
    if not judge.is_passed_on(text.words):
        assert judge.cause(text.words), text.words
        assert judge.way_out(text.words) or judge.says_what_is_expected(text.words), text.words


APART = texts("PluginError", "UsageError")


@pytest.mark.parametrize("text", APART, ids=lambda item: f"{item.place} {item.words[:40]}")
def test_an_error_of_the_plugin_has_two_parts_of_whole_sentences(text):
    if not judge.is_passed_on(text.words):
        assert judge.cause(text.words), text.words
        assert text.words.endswith((".", ".{question}")), text.words
        assert not judge.way_out(text.words), "it says what to do in the part that says what is the case"
    assert text.ways, text.words
    for way in text.ways:
        assert judge.way_out(way), way
        assert way[0].isupper() or way.startswith(("'", "{")), way


@pytest.mark.parametrize("text", REPORTS, ids=lambda item: item.place)
def test_a_report_of_trouble_says_what_is_the_case_and_what_to_do_or_what_comes(text):
    if not all(map(judge.is_passed_on, text.parts)):
        assert judge.cause(text.words) or judge.is_passed_on(text.words), text.words
        for words in text.ways or (text.words,):
            assert judge.way_out(words) or judge.goes_on(words), words


@pytest.mark.parametrize("text", texts(DONE), ids=lambda item: f"{item.place} {item.words[:40]}")
def test_a_line_of_success_says_what_was_done_to_which_object(text):
    assert judge.cause(text.words) or judge.is_framed(text.words), text.words


@pytest.mark.parametrize("text", [*accepted(), *texts(EVENT)], ids=lambda item: item.words[:40])
def test_an_event_says_what_was_done(text):
    assert judge.cause(text.words) or judge.is_framed(text.words), text.words


def test_events_of_every_kind_that_calls_the_cloud_are_seen():
    assert {item.kind for item in accepted()} == {"GpuVM", "GpuVpc", "GpuSnapshot", "GpuHost", "GpuCloudAccount"}
    assert "The pause has ended." in {text.words for text in texts(EVENT)}


def test_findings_and_lines_of_success_are_seen():
    places = {text.place for text in texts("Finding")}
    assert places >= {f"cli/plugin/doctor/{of}findings.py" for of in ("", "account_", "operator_")}
    assert "{key}: resumed (gpucloud.dev/paused removed)" in {text.words for text in texts(DONE)}


def test_no_text_for_people_is_out_of_sight():
    assert unread() == [], "raise one of SHOWN in support/messages/shown.py, with a text that its source spells"


@pytest.mark.parametrize("text", PARTS, ids=lambda item: item.place)
def test_a_part_of_a_message_says_what_to_do_or_what_comes(text):
    assert judge.is_passed_on(text.words) or judge.way_out(text.words) or judge.goes_on(text.words), text.words


@pytest.mark.parametrize("text", QUOTED, ids=lambda item: item.words[:40])
def test_what_is_quoted_of_a_file_says_what_is_wrong_with_it(text):
    assert judge.is_passed_on(text.words) or judge.cause(text.words), text.words


LATE = [text for text in texts("CloudError", "CallerError") if re.search(r"deadline|in time|within", text.words)]


@pytest.mark.parametrize("text", LATE, ids=lambda item: item.words[:40])
def test_a_deadline_that_passed_says_what_to_do(text):
    assert judge.way_out(text.words), text.words


def test_there_are_deadlines_to_judge():
    assert len(LATE) >= 2


SHORT = [text for text in (*SOURCES, *REPORTS) if text.shown_by != "page"]


@pytest.mark.parametrize("text", [*SHORT, *PARTS, *QUOTED, *refusals()], ids=lambda item: item.words[:40])
def test_what_is_said_elsewhere_is_short_enough_to_be_read(text):
    for part in getattr(text, "parts", (text.words,)):
        assert len(judge.own_words(part)) <= judge.LONGEST, part


@pytest.mark.parametrize("refusal", refusals(), ids=lambda item: f"{item.kind} {item.field}")
def test_a_refusal_of_the_apiserver_says_what_to_write(refusal):
    assert judge.way_out(refusal.words) or judge.says_what_is_expected(refusal.words), refusal.words


# a message, whether it names a cause, whether it says what to do
JUDGED = [
    ("Still in the VPC: VM 'a'. Delete it.", True, True),
    ("Set spec.vpc.", False, True),
    ("No account. Create one.", False, True),
    ("The VM cannot be seen: the credential is refused (401).", True, False),
    ("The name is taken; or free the name.", True, True),
    ("Unknown cluster 'x'. Known clusters: Hou1. Delete this object, and create it again with one of them.", True, True),
    ("The list of deleted objects is long.", True, False),
    ("The VM is broken now. See nothing.", True, False),
    ("The VM is broken now. Do something.", True, False),
    ("The VM is broken now. Try harder.", True, False),
    ("The VM is broken now. Do it.", True, False),
    ("The VM is broken now. Make this one.", True, False),
    ("The VM is broken now. Leave it.", True, False),
    ("The VM is broken now. See it.", True, False),
    ("It broke badly today. See the status.", True, False),
    ("All went wrong here. Try the machine.", True, False),
    ("The VM is broken now. Ask the object.", True, False),
    ("The VM is broken now. See its Ready condition: kubectl get gpuvm a -o yaml", True, True),
    ("The VM is broken now. Try another cluster.", True, True),
    ("The VM is broken now. Ask the administrator.", True, True),
    ("The VM is broken now: set everything.", True, False),
    ("See nothing.", False, False),
]


@pytest.mark.parametrize(("words", "cause", "way_out"), JUDGED)
def test_the_judge_finds_the_cause_and_the_way_out(words, cause, way_out):
    assert (judge.cause(words), judge.way_out(words)) == (cause, way_out)


# a message, and what of that which it names does not exist
NAMED = [
    ("Run 'kubectl gpucloud retry gvm/train'.", []),
    ("Run 'kubectl gpucloud mend gvm/train'.", ["kubectl gpucloud mend"]),
    ("Run 'kubectl gpucloud status --all'.", ["kubectl gpucloud status --all"]),
    ("Run 'gpucloud operator --observe-only'.", []),
    ("Run 'gpucloud operators', or 'gpucloud sim --turbo'.", ["gpucloud operators", "gpucloud sim --turbo"]),
    ("Run kubectl repair gpuvm train.", ["kubectl repair"]),
    ("Delete it: kubectl delete gpuvms/a --namespace=team.", []),
    ("Delete it: kubectl delete gpubox a --namespace=team.", ["kubectl delete gpubox"]),
    ("Set spec.placement.alternatives[0].cluster, or spec.sshKeys[].", []),
    ("Set spec.colour; status.mood tells why.", ["spec.colour", "status.mood"]),
    ("Set gpucloud.dev/paused, or gpucloud.dev/retry-at.", ["gpucloud.dev/retry-at"]),
    ("Set GPUCLOUD_API_KEY_FILE, or GPUCLOUD_TOKEN.", ["GPUCLOUD_TOKEN"]),
    ("Lower --cloud-qps; --max-… allows that; helm upgrade x --reset-then-reuse-values", []),
    ("Raise --patience.", ["--patience"]),
    ("See docs/how-to/orphans.md, or docs/how-to/despair.md.", ["docs/how-to/despair.md"]),
    ("See docs/reference/status.md#reasons, or docs/reference/status.md#moods.", ["docs/reference/status.md#moods"]),
    (f"See {SITE}how-to/orphans/, or {SITE}how-to/despair/#now.", ["how-to/despair.md#now"]),
    ("Run 'make crds', or 'make gold'.", ["make gold"]),
]


@pytest.mark.parametrize(("words", "found"), NAMED, ids=[row[0] for row in NAMED])
def test_the_judge_looks_up_what_a_message_names(words, found):
    assert unreal(words) == found


EXPLAINED = [row[part] for row in explanations().values() for part in ("meaning", "whatToDo")]


NOTHING_TO_DO = re.compile(r"Nothing\b.*|Wait\.")


@pytest.mark.parametrize("row", explanations().values(), ids=lambda row: row["reason"])
def test_an_explained_reason_says_what_to_do(row):
    what = row["whatToDo"]
    settled = NOTHING_TO_DO.fullmatch(what) or "the message says" in what or judge.goes_on(what)
    assert settled or judge.way_out(what), what


def test_all_that_messages_name_exists():
    every = [*said(), *accepted(), *refusals(), *SOURCES, *REPORTS, *PARTS, *QUOTED, *texts(DONE, EVENT)]
    every_part = (part for item in every for part in getattr(item, "parts", (item.words,)))
    found = {words: unreal(words) for words in (*every_part, *EXPLAINED)}
    assert {words: what for words, what in found.items() if what} == {}


def test_the_judge_counts_a_messages_own_words():
    text = "VM 'a-name' failed (the cloud's own words). To keep it: kubectl annotate gpuvm a --overwrite x=y; Or not."
    assert judge.own_words(text) == "VM '' failed ''. To keep it: Or not."
    assert judge.own_words("The VM stays. The GpuSnapshot says: NotFound: it is not there.") == "The VM stays. "
    assert judge.own_words("Not Ready after 9 s (spec.x); the operator keeps trying. Last: The VM is being created.") == (
        "The VM is being created."
    )


def test_the_judge_reads_all_kinds_of_messages():
    assert {item.kind for item in CONDITIONS} == {"GpuVM", "GpuVpc", "GpuSnapshot", "GpuHost", "GpuCloudAccount"}
    assert {item.shown_by for item in SOURCES} >= {
        "PluginError",
        "UsageError",
        "SettingsError",
        "failed_check",
        "KeyProblemError",
        "ValueError",
        "NotDoneError",
        "ConsoleRefusedError",
        "CallerError",
        "WaitError",
    }
    assert len(refusals()) > 40


LISTING = (
    "{plural} could not be listed: {said}. Correct that, then run it again. To look: kubectl get {plural}.gpucloud.dev {scope}"
)
# a module of the source, what is read of it, and why
READ = [
    (
        "cli/plugin/cluster/refusals.py",
        "cannot create {key} in namespace '{namespace}': {error}.",
        "from a function",
    ),
    (
        "cli/operations/uninstall.py",
        LISTING,
        "from a class",
    ),
    ("cloud/calls.py", "{name} must be text; nothing was sent", "framed by a function"),
    (
        "engine/kube/ssh_keys.py",
        "Key '{key}' of the Secret '{name}' in namespace '{namespace}' is empty. Put an OpenSSH public key there.",
        "with what an argument holds",
    ),
    ("cli/plugin/creation/vm_manifest.py", "--vpc and --vpc-ref: a VM is in one VPC.", "through a function"),
    (
        "cli/plugin/doctor/findings.py",
        "You (of unknown name) may not list {plurals} in namespace '{namespace}': this page leaves them out.",
        "from a function that returns it with its advice",
    ),
]


@pytest.mark.parametrize(("place", "words", "why"), READ, ids=[row[2] for row in READ])
def test_a_text_is_followed_to_where_it_is_spelled(place, words, why):
    assert words in {text.words for text in texts(*ERRORS, *CLIENTS, "KeyProblemError", "Finding") if text.place == place}, why


# a message of refusals.py, and ways out that it must have: which of them stands first or beside which message says nothing
WAYS_OUT = [
    ("cannot create {key} in namespace '{namespace}': {error}.", ("Correct what it says.", "Log in to the cluster again.")),
    ("cannot change {key} in namespace '{namespace}': {error}.", ("Correct what it says.", "Log in to the cluster again.")),
    ("cannot create {key} in namespace '{namespace}': its CRD is not installed in this cluster.", ("Install the CRDs",)),
]


@pytest.mark.parametrize(("words", "ways"), WAYS_OUT)
def test_a_message_has_all_the_ways_out_that_the_code_gives_it(words, ways):
    found = [way for text in texts("PluginError") if text.words == words for way in text.ways]
    assert [way for way in ways if not any(one.startswith(way) for one in found)] == []


# a module as it might be written, and why its message is out of sight
OUT_OF_SIGHT = [
    ("def f(words):\n    raise PluginError(words)", "a parameter of a function that nobody calls"),
    ("def f():\n    raise PluginError(elsewhere.words())", "a function that is not in the source"),
    ("def f(it):\n    raise PluginError(it.words)", "a field of an object"),
]


@pytest.mark.parametrize("source", [row[0] for row in OUT_OF_SIGHT], ids=[row[1] for row in OUT_OF_SIGHT])
def test_a_text_that_the_source_does_not_spell_is_an_error(source):
    tree = ast.parse(source)
    module = Module("made/up.py", tree)
    call = next(node for node in ast.walk(tree) if isinstance(node, ast.Call))
    with pytest.raises(UnreadableError):
        read(call.args[0], Frame(Scope(tree.body[0], module, Scope(tree, module))))


@pytest.mark.parametrize(("name", "words"), judge.SENTENCES.items())
def test_a_sentence_that_a_placeholder_stands_for_is_judged_where_it_is_made(name, words):
    assert any(words in message.words for message in CONDITIONS)
    assert any(f"{{{name}}}" in part for text in (*SOURCES, *REPORTS, *PARTS) for part in text.parts), "none needs it"
