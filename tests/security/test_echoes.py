"""A cloud, or what stands before it, that repeats the request in its complaint gives away nothing of it (S4, S18).

Error pages of web frameworks do just that. The password is of the sort that is written differently in JSON, HTML and URLs.
"""

from __future__ import annotations

import base64
import html
import json
import re
import traceback
from urllib.parse import quote, quote_plus

import httpx
import pytest

from gpucloud.cloud import ApiKey, CloudError, Login
from support.canaries import Canaries
from unit.cloud.fakes import Rig, refusal

PASSWORD = 'made-up "pass"\\wörd & <more> of +it\'s'
KEY = "made-up/key+of=the&tests"


def in_lower_case(text):
    return re.sub("%..", lambda escape: escape[0].lower(), quote(text, safe=""))


def in_net_json(text):
    """As System.Text.Json writes: by number whatever HTML could mistake, and all that is not ASCII."""
    return re.sub(r"[^A-Za-z0-9 ./=-]", lambda char: f"\\u{ord(char[0]):04X}", text)


def in_net_html(text):
    return re.sub("[^ -~]", lambda char: f"&#{ord(char[0])};", html.escape(text).replace("&#x27;", "&#39;"))


ECHOES = {
    "the body, as it came": lambda request: request.content.decode(),
    "the body, as ASCII": lambda request: json.dumps(json.loads(request.content or b"{}")),
    "the body in HTML": lambda request: f"<html><pre>{html.escape(request.content.decode())}</pre></html>",
    "the header": lambda request: f"I do not like {request.headers.get('Authorization')}",
    "the header in HTML": lambda request: f"<html>{html.escape(str(request.headers.get('Authorization')))}</html>",
    "the values alone": lambda _: f"{PASSWORD} {KEY}",
    "the values as in a URL": lambda _: f"{quote(PASSWORD, safe='')} {quote(KEY, safe='')} {quote(PASSWORD)} {quote(KEY)}",
    "the values as in a form": lambda _: f"{quote_plus(PASSWORD)} {quote_plus(KEY)}",
    "the values in HTML": lambda _: f"{html.escape(PASSWORD)} {html.escape(KEY)}",
    "the values in JSON": lambda _: json.dumps([PASSWORD, KEY]),
    "the values as .NET writes them in a URL": lambda _: f"{in_lower_case(PASSWORD)} {in_lower_case(KEY)}",
    "the values as .NET writes them in JSON that was cut off": lambda _: (
        f'{{"error":{{"message":"{in_net_json(KEY)} {in_net_json(PASSWORD)} is'
    ),
    "the values as .NET writes them in HTML": lambda _: f"{in_net_html(PASSWORD)} {in_net_html(KEY)}",
    "behind 400 other words": lambda _: "word " * 98 + f"{PASSWORD} {KEY}",
}


@pytest.mark.parametrize("form", ["text", "envelope"])
@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
@pytest.mark.parametrize("credential", [ApiKey(KEY), Login("ann", PASSWORD)], ids=["key", "login"])
async def test_what_is_repeated_is_blotted_out(credential, echo, form):
    def answer(request):
        said = echo(request)
        return httpx.Response(500, content=said.encode()) if form == "text" else refusal(500, said)

    rig = Rig(answer, credential=credential, max_retries=0)
    async with rig.client as client:
        with pytest.raises(CloudError) as caught:
            await client.get_all_clusters()
    canaries = Canaries()
    canaries.plant("the credential", KEY if isinstance(credential, ApiKey) else PASSWORD)
    error = caught.value
    shown = "\n".join([str(error), repr(error), *traceback.format_exception(error), repr(vars(error)), repr(rig.reports)])
    assert not canaries.found_in([("an error", shown)])


HOSTILE = "line one\r\nline two\x1b[31mred\x1b[0m\x07\x00\u2028\u202e{braces} {0} %s ${jndi:x} \x9b31m end"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 429, 500, 503])
async def test_words_of_the_cloud_stay_on_one_line(status):
    """So nobody who can make the cloud say something can write lines into our log, our Events or a terminal."""
    async with Rig(lambda _: refusal(status, HOSTILE), max_retries=0).client as client:
        with pytest.raises(CloudError) as caught:
            await client.get_all_clusters()
    assert str(caught.value).isprintable()
    assert "{braces} {0} %s" in str(caught.value), "and are otherwise shown as they are"


LINE = "  passwd: hunter2-very-secret"
CLOUD_INIT = f"#cloud-config\nusers:\n- name: ann\n{LINE}\n"
ENCODED = base64.b64encode(CLOUD_INIT.encode()).decode()
QUOTES = {
    "a line": LINE,
    "a value": "hunter2-very-secret",
    "the first part of a value": "passwd: hunter2-v…",
    "all of it": CLOUD_INIT,
    "all of it in JSON": json.dumps(CLOUD_INIT),
    "a line in HTML": f"<html>{html.escape(LINE)}</html>",
    "a line in a URL": quote(LINE),
}


@pytest.mark.parametrize("quoted", QUOTES.values(), ids=QUOTES)
async def test_what_is_quoted_of_a_cloud_init_is_blotted_out(quoted):
    rig = Rig(lambda _: refusal(422, f"the cloud-init is wrong: '{quoted}'"))
    async with rig.client as client:
        with pytest.raises(CloudError) as caught:
            await client.reprovision_host(id="bm-128", cluster="Msc1", cloud_init_base64=ENCODED)
    assert "hunter2" not in "\n".join([repr(caught.value), repr(vars(caught.value)), repr(rig.reports)])
    assert caught.value.message.startswith("the cloud-init is wrong: "), "the reason is still told"
