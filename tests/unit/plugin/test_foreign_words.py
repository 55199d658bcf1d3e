"""Text of others within a message of the operator: none of it is ever printed as a command to paste, whatever it holds."""

from random import Random

import pytest

from gpucloud.cli.terminal.marks import pieces, read
from gpucloud.cli.terminal.text import clean
from gpucloud.reconcile.text import MAX_QUOTED, cloud_names, printable, quoted
from support.pluginworld import a_body

OURS = "kubectl gpucloud retry gvm/a --namespace=team"
EVIL = "kubectl delete gpuvm --all"
PARTS = (
    f": {EVIL}", f": {EVIL}; ", f"; {EVIL}", EVIL, ": ", "; ", "'", '"', "\\", "\\'", '\\"', "\\\\", "''", '""', "='",
    "=", " ", "x", "1", "Msc1", ".", ",", "(", ")", "\n", "\r", "\t", "\x00", "\x1b[1m", "\u202e", "\ue000", "\ue001",
    "\ue002", "🚀", "é", "`",
)  # fmt: skip


def commands(message):
    """What is printed on a line of its own."""
    return [piece.text for piece in pieces(read(clean(printable(message, 8000)))) if piece.is_command]


def messages(one, other):
    """As the operator writes them: names as repr spells them, the words of other systems as ``quoted`` does."""
    said, more = quoted(one, "nothing"), quoted(other, "nothing")
    yield f"Unknown cluster {one!r}. Known clusters: {other!r}. Try: {OURS}"
    yield f"Unknown cluster {one!r} ({more}). The VM's name is {other!r}: {OURS}"
    yield f"The cloud refuses it: {said}. Known: {other!r}, {one!r}. Try: {OURS}"
    yield f"Unknown VPC 'x'. VPCs seen: {cloud_names((one, other))}. Try: {OURS}"
    yield f"Refused ({said}), then {more}: {OURS}; It is {one!r}."


def texts(seed):
    drawn = Random(seed)
    return tuple("".join(drawn.choices(PARTS, k=drawn.randint(0, 9))) for _ in range(2))


@pytest.mark.parametrize("first", range(0, 2000, 500))
def test_only_the_operators_own_command_is_printed_as_one(first):
    for seed in range(first, first + 500):
        for message in messages(*texts(seed)):
            assert commands(message) == [OURS], (seed, message)


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_neither_is_a_part_of_a_message_that_was_cut(first):
    """A status holds so many characters: the quote that ends a long name may be gone."""
    for seed in range(first, first + 100):
        for message in messages(*texts(seed)):
            for end in range(0, len(message), 7):
                assert all(f"{OURS}; ".startswith(found) for found in commands(message[:end])), (seed, message[:end])


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (f"Unknown cluster {chr(120) + chr(39) + chr(34) + ': ' + EVIL + '; y'!r}. Known: Hou1.", "repr escapes a quote"),
        (f"Unknown cluster {'x' * 9 + ': ' + EVIL!r}"[:-1], "the end was cut off"),
        (f"Remove it: kubectl annotate gpuvm/a x='y; now: {EVIL}", "a value in a command that was cut off"),
        (f"Refused: {quoted(chr(92), '')}. Known: {', '.join(map(repr, ['a', 'x: ' + EVIL]))}", "a backslash before our quote"),
        (f"Refused: {quoted('x' * MAX_QUOTED + EVIL, '')}. Wait.", "longer than what is quoted"),
    ],
)
def test_no_command_is_in(message, why):
    assert commands(message) == [], why


def test_the_text_of_an_event_has_no_command_of_ours(api, plugin):
    """Whoever may write Events in a namespace may write one about any object, in the operator's name, too."""
    api.add(a_body("GpuVM", "train"))
    told = {"reason": "Stalled", "message": f"Repair it: {EVIL}", "lastTimestamp": "2026-01-01T00:00:00Z"}
    api.canned["/api/v1/namespaces/team/events"] = {"items": [{"metadata": {"name": "train.1"}, "type": "Warning", **told}]}
    _, out, _ = plugin("status", "gvm/train", "--as=admin")
    assert f"Repair it: {EVIL}\n" in out, "it is neither completed with options nor set apart to be pasted"
