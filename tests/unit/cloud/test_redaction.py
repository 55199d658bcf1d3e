"""What is blotted out of the cloud's words: a secret in any spelling, and what quotes a cloud-init; and what is not."""

import base64
import contextlib
import gzip
import html
import json
import re
from dataclasses import replace
from urllib.parse import quote, quote_plus

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpucloud.cloud import CloudError, calls
from gpucloud.cloud.quotations import document_of
from gpucloud.cloud.redaction import redactor
from unit.cloud.fakes import Rig, plain, refusal

AWKWARD = "pa+s 's&wo\"rd<é\\😀>/=="


def lower(text):
    return re.sub(r"%[0-9A-F]{2}", lambda escape: escape[0].lower(), text)


def text_json(text):
    """As System.Text.Json writes: whatever HTML could mistake, and all that is not ASCII, in upper-case escapes."""
    units = text.encode("utf-16-be").hex().upper()
    chars = [units[at : at + 4] for at in range(0, len(units), 4)]
    return "".join(chr(int(c, 16)) if chr(int(c, 16)).isascii() and chr(int(c, 16)).isalnum() else f"\\u{c}" for c in chars)


def net_html(text):
    """As WebUtility.HtmlEncode writes: the apostrophe and all above ASCII by number."""
    escaped = html.escape(text, quote=False).replace('"', "&quot;").replace("'", "&#39;")
    return "".join(char if char.isascii() else f"&#{ord(char)};" for char in escaped)


WRITTEN = {
    "plain": str,
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON that keeps letters": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "URL": lambda text: quote(text, safe=""),
    "form": quote_plus,
    "URL, lower case": lambda text: lower(quote(text, safe="")),
    "form, lower case": lambda text: lower(quote_plus(text)),
    "System.Text.Json": text_json,
    "HTML": html.escape,
    "HTML of .NET": net_html,
    "HTML, hexadecimal": lambda text: html.escape(text).replace("&#x27;", "&#X27;"),
}
KINDS = st.sampled_from(sorted(WRITTEN))


@pytest.mark.parametrize("outer", WRITTEN)
@pytest.mark.parametrize("inner", WRITTEN)
def test_a_secret_is_blotted_out_in_every_spelling_and_in_each_of_these_in_another(inner, outer):
    said = f"<a> refused: {WRITTEN[outer](WRITTEN[inner](AWKWARD))}; correct it"
    assert redactor((AWKWARD,))(said) == "<a> refused: [redacted]; correct it"


@pytest.mark.parametrize("form", WRITTEN)
def test_what_is_cut_off_within_a_secret_or_an_escape_shows_nothing_of_it(form):
    written = WRITTEN[form](AWKWARD)
    for end in range(len(written)):
        shown = redactor((AWKWARD,))("refused: " + written[:end]).removeprefix("refused: ")
        assert shown == "[redacted]" or len(shown) < len(WRITTEN[form]("pa+s 's")), (end, shown)


@pytest.mark.parametrize("form", WRITTEN)
def test_a_secret_that_is_longer_than_what_is_read_of_an_answer_is_blotted_out(form):
    secret = AWKWARD * 2000
    assert redactor((secret,))(f"refused: {WRITTEN[form](secret)}") == "refused: [redacted]"


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=4, max_size=12), st.lists(KINDS, max_size=2))
def test_any_secret_is_blotted_out(secret, layers):
    written = secret
    for layer in layers:
        written = WRITTEN[layer](written)
    assert "[redacted]" in redactor((secret,))(f"<{written}>")


def test_words_without_a_secret_stay_as_they_are():
    said = "  50%25 of\nC:\\u0041\\new &amp; all  "
    assert redactor((AWKWARD,), (DOCUMENT,))(said) == said


DOCUMENT = """#cloud-config
# Sets up the host with our tools: see https://wiki.example/nodes
hostname: node-7
users:
- name: ann
  passwd: hunter2-very-secret
  lock_passwd: false
- {name: bob, passwd: "swordfish"}
chpasswd:
  list: |
    root:pa55word
    carl:sekret
ssh_authorized_keys:
  - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5
write_files:
- path: /etc/token
  permissions: '0600'
  content: |
    zq7-b
    TOKEN=tok,en;1
runcmd:
- curl -u ann:aB3$x https://repo.example/a%20b | sh
- [ sh, -c, "echo 'correct horse battery' | passwd --stdin ann" ]
"""

# what the cloud says -> what is shown of it
QUOTING = [
    ("line 5 is wrong: '  passwd: hunter2-very-secret'", "line 5 is wrong: ' [redacted]'", "a line"),
    ("line 5:\n  passwd: hunter2-very-secret\n  ^", "line 5: [redacted] ^", "a line of its own"),
    ("'hunter2-very-secret' is too weak", "'[redacted]' is too weak", "a value"),
    ("weak: hunter2-very-secret.", "weak: [redacted]", "a value at the end"),
    ("in '  passwd: hunter2-ver…' (line 5)", "in ' [redacted]' (line 5)", "a line that is cut off"),
    ("value hunt…", "value [redacted]…", "a value of which little is left"),
    ('{"error":"value hunt', '{"error":"value [redacted]', "an answer that is cut off in a value"),
    ("very-secret and hunter2", "[redacted] and [redacted]", "pieces"),
    ("swordfish is a word of a dictionary", "[redacted] is a word of a dictionary", "a plain word as a value"),
    ("no user 'carl' with sekret", "no user 'carl' with [redacted]", "a short word after a colon"),
    ("unexpected zq7-b", "unexpected [redacted]", "a line of a file"),
    ("bad tok,en;1 here", "bad [redacted] here", "a value with marks in it"),
    ("password aB3$x refused", "password [redacted] refused", "a short value in a command"),
    ("cannot run: correct  horse\n battery", "cannot run: [redacted]", "words of a command, spaced otherwise"),
    ("cannot get https://repo.example/a b", "cannot get [redacted]", "decoded by the cloud"),
    ("bad: passwd\\u003A hunter2-very-secret\\n", "bad: passwd\\u003A [redacted]", "escaped"),
    ("key AAAAC3NzaC1lZDI1NTE5 unknown", "key [redacted] unknown", "a key"),
    ("mode 0600 is taken", "mode [redacted] is taken", "a number"),
    ("the cloud-init is wrong: ssh_authorized_keys: no list", None, "the names of keys"),
    ("passwd: expected a text, got false", None, "a key and a common word"),
    ("the host with this name is not our host", None, "short words of a comment"),
    ("host bm-128 is deprovisioning; the host must be provisioned", None, "nothing of it"),
    ("line 4, column 3: mapping values are not allowed here", None, "a parser's own words"),
]


@pytest.mark.parametrize(("said", "shown", "why"), QUOTING)
def test_nothing_that_quotes_a_cloud_init_is_shown(said, shown, why):
    assert redactor((), (DOCUMENT,))(said) == (said if shown is None else shown), why


@pytest.mark.parametrize("packed", [DOCUMENT.encode(), gzip.compress(DOCUMENT.encode())], ids=["plain", "gzip"])
@pytest.mark.parametrize("unpadded", [False, True])
async def test_a_refused_reprovisioning_quotes_nothing_of_its_cloud_init(packed, unpadded):
    encoded = base64.b64encode(packed).decode()
    rig = Rig(lambda _: refusal(422, f"line 5 is wrong: '  passwd: hunter2-very-secret' of {encoded}"))
    async with rig.client as client:
        with pytest.raises(CloudError) as caught:
            await client.reprovision_host(
                id="bm-128", cluster="Msc1", cloud_init_base64=encoded.rstrip("=") if unpadded else encoded
            )
    assert caught.value.message.startswith("line 5 is wrong: ' [redacted]' of [redacted]")
    assert "hunter2" not in repr(rig.reports)


@pytest.mark.parametrize(("answer", "times"), [(plain(["Msc1"]), 0), (refusal(422, "wrong"), 1), (plain("<p>no</p>", 500), 1)])
async def test_a_document_is_taken_apart_once_for_a_failure_and_never_for_an_answer(answer, times):
    """For each text anew, a large cloud-init held the event loop for seconds."""
    taken = []

    class Documents(tuple):
        __slots__ = ()

        def __iter__(self):
            taken.append(self)
            return super().__iter__()

    call = replace(calls.get_all_clusters(), documents=Documents([DOCUMENT]))
    async with Rig(lambda _: answer, max_retries=0).client as client:
        with contextlib.suppress(CloudError):
            await client.run(call)
    assert len(taken) == times


async def test_the_kind_of_a_failure_does_not_hang_on_what_may_be_shown():
    document = base64.b64encode(b"echo the host was not found").decode()
    async with Rig(lambda _: httpx.Response(400, content=b"the host was not found")).client as client:
        with pytest.raises(CloudError) as caught:
            await client.reprovision_host(id="bm-128", cluster="Msc1", cloud_init_base64=document)
    assert (caught.value.kind, caught.value.message) == ("NotFound", "[redacted]")


@pytest.mark.parametrize("encoded", ["", "a", "é", base64.b64encode(b"\x1f\x8bno gzip").decode()])
def test_what_cannot_be_decoded_is_no_document(encoded):
    assert document_of(encoded) in {(), ("",)}


def test_what_is_packed_a_thousandfold_is_not_unpacked_to_its_end():
    (text,) = document_of(base64.b64encode(gzip.compress(b"a" * 50_000_000)).decode())
    assert len(text) == 1_048_576
