"""The judge of a message: does it say what is the case, and what to do or what happens next?

A clause that begins with one of ``ORDERS`` says what to do, if it names with what: a command, a field, a value, one of
``THINGS``, or by a pronoun what stands before it. The cause stands before it, too. Whether what it names exists is for
``named`` to say.
"""

from __future__ import annotations

import re

from gpucloud.reconcile.commands import IN_MESSAGE
from support.messages.named import names

_ORDERS = """
accept add adopt annotate apply ask call change check choose close copy correct create declare delete destroy do export
forward free give grant have increase install keep kubectl leave let log look make move name open pass put raise read remove
rename replace report restart retry run say see send set start take try type unset update upgrade use wait write
"""
ORDERS = frozenset(_ORDERS.split())
_THINGS = """
absence account administrator alternative answer client cloud cluster command configmap configuration console context crd
credential dashboard disk endpoint extra file host image item key kubeconfig lease letter line log machine message name
namespace number object operator option owner permission plugin pod pool port price processor recreate release request
reservation resource right secret secretkeyref size snapshot spec status store support tenant text url user value variable
vm volume vpc webhook
"""
THINGS = frozenset(_THINGS.split())  # what people can act on, and whom they can ask
_POINTERS = frozenset({"it", "that", "there", "them", "these", "this", "those", "one", "two", "other", "another", "each"})
_GENERAL = frozenset({"do", "leave", "let", "make", "say"})  # with a pointer alone, they lead nowhere
# What an order can lead to that changes nothing: who can answer, and where there is something to see. No other thing will do,
# nor a pointer, since "See the status." and "Ask the object." say as little as "See it.".
_SHOWN = frozenset({"account", "cloud", "console", "dashboard", "host", "log", "message", "pod", "webhook"})
_LEADS = {
    "ask": frozenset({"administrator", "owner", "permission", "right", "support"}),
    "try": frozenset({"another", "other"}),
    **dict.fromkeys(("look", "see"), _SHOWN),
}
_ALONE = re.compile(
    r"(?:wait|log in|(?:ask|try|run|start|apply)(?: it| this)? again)\b.*|wait until .*|start|leave .* out", re.IGNORECASE
)
_VALUE = re.compile(
    r"\{[^{}]*\}|'[^']+|https?://|\b[A-Z]{3,}\b|\bGpu[A-Z]\w+|(?<!\w)-[a-z]\b|\.[a-z]{3}\b|\w[=_]\w|\b\d+\b"
    r"|\b(?:for example|such as) \S"
)
_CLAUSE = re.compile(r"(?:[.:;,)?] |-- |→ |\b(?:or|and|then|to) )+")
_GOES_ON = re.compile(
    r"\b(is|are) (being|tried again|deleted before|created as soon|taken as soon|destroyed as soon|still watched)\b"
    r"|\b(tries again|keeps trying|checks|goes on|is deleted (once|after)|waits|waiting|looking)\b",
    re.IGNORECASE,
)
_EXPECTED = re.compile(r"\b(expected|must|needs?|takes no|at most|too many|is missing)\b")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_WAY_OUT = re.compile(r"\{(advice|command|do|instead|\w*way_out)\}", re.IGNORECASE)  # what a placeholder holds, by its name
_APISERVER = re.compile(r"The apiserver says: .*$")
# Placeholders of a sentence, or of nothing, and words of it, by which the messages that bring it are known: they judge it.
SENTENCES = {"question": "Did you mean ", "early": ", but this began later."}
_SENTENCE = re.compile(rf"\{{({'|'.join(SENTENCES)})\}}")
_OTHERS = re.compile(r"\{(error|what|\w*words|message|failures?|why|troubles?|_?reason)\}\.?$")
_COMMAND = re.compile(rf"(?:{IN_MESSAGE.pattern})(?:; )?", IN_MESSAGE.flags)
_QUOTED = re.compile(r"(?<![\w}])'[^']*'|\([^()]*own words\)|[\w ']*own words")
# A message that quotes another one, which is judged by itself.
_ANOTHER = re.compile(r"^Not Ready after .* Last: |\(\w+: .*\)$|The GpuSnapshot says: .*$")
LEAST_WORDS = 3
LONGEST = 200  # characters of a message's own words


def clauses(text: str) -> list[str]:
    """The clauses of a message, from their first word on."""
    apart = _SENTENCE.sub("", text)
    return [part.strip(" .`'\"(") for part in _CLAUSE.split(apart) if part.strip(" .`'\"(")]


def is_order(clause: str) -> bool:
    """Whether a clause says what to do."""
    return clause.split(maxsplit=1)[0].casefold() in ORDERS


def leads(clause: str) -> bool:
    """Whether a clause says what to do, and names with what."""
    if not is_order(clause):
        return False
    if _ALONE.fullmatch(clause) or names(clause) or _VALUE.search(clause):
        return True
    verb, *others = re.findall(r"[a-z]+", clause.casefold().removeprefix("do not "))
    about = {word.removesuffix("s") for word in others} | set(others)
    if verb in _LEADS:
        return bool(about & _LEADS[verb])
    return bool(about & THINGS) or (verb not in _GENERAL and bool(about & _POINTERS))


def cause(text: str) -> bool:
    """Whether the message says what is the case before it says what to do."""
    before: list[str] = []
    for clause in clauses(text):
        if is_order(clause):
            break
        before += clause.split()
    return len(before) >= LEAST_WORDS


def way_out(text: str) -> bool:
    """Whether the message says what to do, and with what."""
    return any(map(leads, clauses(text))) or _WAY_OUT.search(text) is not None


def goes_on(text: str) -> bool:
    """Whether the message says what is waited for, or what happens without anybody's doing."""
    return _GOES_ON.search(text) is not None


def own_words(text: str) -> str:
    """Return the message without commands, names in quotes, the words of others, and another message that it quotes."""
    return _PLACEHOLDER.sub("", _QUOTED.sub("''", _COMMAND.sub(_unless_command, _APISERVER.sub("", _ANOTHER.sub("", text)))))


def _unless_command(found: re.Match[str]) -> str:
    return "" if found["alone"] or found["within"] else found[0]


def says_what_is_expected(text: str) -> bool:
    """Whether the message of a wrong value names what is taken."""
    return _EXPECTED.search(text) is not None


def is_framed(text: str) -> bool:
    """Whether a text of the source has next to no words of its own."""
    return len(re.findall(r"[A-Za-z]{2,}", _PLACEHOLDER.sub("", text))) < LEAST_WORDS


def is_passed_on(text: str) -> bool:
    """Whether a text of the source only frames another message, which is judged where it is made."""
    return is_framed(text) or _OTHERS.search(text) is not None
