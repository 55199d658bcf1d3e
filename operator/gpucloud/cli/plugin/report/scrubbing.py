"""Text without credentials: what looks like one, what is named like one, and what a URL hides. Pure.

To remove too much is harmless: a value goes to the end of its quotes, brackets, block or word. Only names of objects must stay.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gpucloud.cli.plugin.report.random_words import without_random_words
from gpucloud.cli.plugin.report.tokens import without_tokens

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

HIDDEN = "[removed]"
# Letters that need no escape in JSON, YAML or a URL, written as one: `p\u0061ssword` is read as `password`.
_ESCAPED = re.compile(r"(?:(?<!\\)\\+(?:u00|x|U000000)|%)(20|2d|3[0-9]|[46][1-9a-f]|[57][0-9a]|5f)", re.IGNORECASE)
# A mark of quotation: escaped as often as JSON stands within JSON, or as HTML and other serialisers write it.
_QUOTE = r"""(?:\\*["']|\\+u002[27]|&quot;|&#(?:34|39);)"""
_COLON = r"(?:=>|[:=\uff1a]|%3[ad]|\\+u003[ad]|&#6[01];)"
# Up to the last @ of a URL is taken for user and password. A scheme is tried where a word begins only: tried at each letter, a
# log with a word of 200,000 letters takes minutes. PHP escapes slashes in JSON.
_URL = re.compile(
    r"""((?<![a-z0-9+.-])[a-z0-9+.-]*:\\{0,4}/\\{0,4}/)(?:[^\s"'<>\\]*@)?([^\s"'<>\\?#]*)([?#][^\s"'<>\\]*)?""", re.IGNORECASE
)
# The scheme of the service, in its own spelling, is never followed by prose; in another, and a name without a mark, by what
# holds a digit or stands in quotes only.
_LOGIN = re.compile(r"\b((?i:bearer|basic)|ApiKey)\s+[^\s\"',]+")
_DIGIT = r"""(?=[^\s"',}\\]{0,256}\d)"""
_TOLD = re.compile(
    rf"""((?:api[-_ ]?key|password|passwd|passphrase|pwd|token)\s(?:is\s)?["']?){_DIGIT}[^\s"',}}\\]{{4,}}"""
    r"""|((?:api[-_ ]?key|password|passphrase|token)\s(?:is\s)?(["'])).*?(?=\3|$)""",
    re.IGNORECASE | re.MULTILINE,
)
# A key, a login or a credential in a sentence: what holds a digit; of a login what stands behind the user, too.
_SAID = re.compile(
    rf"""(\b(?:key|login|credentials?)(?:\s(?:is\s)?|\s?=\s?)["']?)(?!sha\d){_DIGIT}([^\s"',;/}}\\]{{6,}})"""
    r"""|(\blogin\s["']?[^\s"'/:]{1,256}[/:])([^\s"',;}\\]{4,})""",
    re.IGNORECASE,
)
# A field in quotes that is called no more than key.
_KEY = re.compile(rf"""((?<=["'27;])key{_QUOTE}\s*{_COLON}\s*({_QUOTE}))((?:(?!(?<!\\)\2).)*)""", re.IGNORECASE)
# PEM, and the files of PuTTY, whose comment may hold quotes.
_PRIVATE = re.compile(
    r"""-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^"']*?(?:-----END [A-Z0-9 ]{0,40}-----|(?=\\?["'])|\Z)"""
    r"""|(?:PuTTY-User-Key-File-\d|Private-Lines):[^"']*?(?:Private-(?:MAC|Hash): ?[0-9a-f]*|(?=\\?["'])|\Z)"""
)
# User and password before a host, without a scheme; the digest of an image stands behind an @, too.
_USER = re.compile(r"""(?<![^\s"'<>\\=,(])[^\s"'<>\\=,(@:/]{1,256}:[^\s"'<>\\]{1,256}@(?!sha\d+:)(?=[\w\[])""")
_CURL = re.compile(r"""((?<![^\s"'])(?:-u|--user)[ =]["']?[^\s"':+][^\s"':]{0,255}:)[^\s"']+""")
# Such a header's value goes to the end of the line.
_HEADER = re.compile(r"\b((?:authorization|cookie|x-api-key)\s*[:=]\s*)[^\s\"'][^\n\"']*", re.IGNORECASE)
# What follows a flag in a list, the name of a header in a pair, or that of a variable.
_LISTED = re.compile(
    r"""((?:["']-{1,2}[\w-]*(?:credential|key|login|pass\w*|pwd|secret|token)["']\s*,\s*"""
    r"""|[\[(]b?["'][\w-]{0,64}(?:api[-_]?key|authorization|cookie|password|token)["'],\s?"""
    r"""|["']\w{0,64}(?:key|login|password|secret|token)["']\s*,\s*["']value["']:\s?)b?(["']))(?:(?!\2)[^\n])*""",
    re.IGNORECASE,
)
# A flag and its value within one text, as in a command of a shell.
_FLAG = re.compile(
    r"""((?<![\w-])-{1,2}[\w-]{0,64}?(?:credential|key|login|pass|password|passwd|passphrase|pwd|secret|token)(?:\s+|\s?=\s?))"""
    r"""(?:'[^'\n]*'|"[^"\n]*"|(?!-)[^\s"'\\]+)""",
    re.IGNORECASE,
)
_TAG = re.compile(r"(<[\w:-]{0,64}(?:key|passphrase|password|secret|token)>)[^<\n]*", re.IGNORECASE)
# Fields of our own objects with the names of Secrets are none; and behind a name in single quotes, as in a sentence of the
# operator, only what Python writes for a value.
_NAMED = re.compile(
    r"""((?:(?:access|account|api|encryption|private|secret|signing)[-_ ]?keys?|authorization|credentials?|passphrases?"""
    r"""|passwords?|passwd|\bauth|\bbearer|\bjwt|\bpass|\bpwd?|(?<!held)(?<!proven)secrets?|\bsig|signature|tokens?"""
    r"""|(?<=[?&])key)"""
    r"""(?:[-_ ]?(?:b64|base64|data|hash|plain|string|text|value|\d{1,3}))?"""  # what a name says of the form
    rf"""(?:'(?=:\s?(?:b?["'\[({{]|\d))|(?!'){_QUOTE})?(?:\sis)?\s*{_COLON}\s*(?:&\w+\s+)?)"""  # with an anchor of YAML
    r"""(?:[|>][-+\d]{0,2}(?:(?:\n|\\{1,8}n)(?:[ \t]+(?:(?!\\{1,8}n)[^\n"'])*|(?=[ \t]*(?:\n|\\{1,8}n))))+"""  # a block of YAML
    r"""|\[[^\]]{0,2000}\]?|\{[^}]{0,2000}\}?"""
    rf"""|(b?({_QUOTE}))(?:\3\3|(?!(?<!\\)\3).)*"""  # a quote that stands twice is one within, in YAML
    r"""|(?:[^\s"',}\\]|[,'}](?=[^\s"',}\\]))+)""",
    re.IGNORECASE,
)


def scrubbed(text: str, names: AbstractSet[str] = frozenset()) -> str:
    """Text without private keys, user and password of a host, query of a URL, and what looks or is named like a credential.

    ``names`` of objects stay where a text has no more than a name: for a long random word, or what a sentence calls a key.
    """
    text = _ESCAPED.sub(lambda one: chr(int(one[1], 16)), text)
    text = without_tokens(_PRIVATE.sub(HIDDEN, text), HIDDEN)
    text = _URL.sub(lambda url: f"{url[1]}{url[2]}{f'?{HIDDEN}' if url[3] else ''}", text)
    text = _CURL.sub(rf"\1{HIDDEN}", _USER.sub(f"{HIDDEN}@", text))
    text = _LISTED.sub(rf"\1{HIDDEN}", _HEADER.sub(rf"\1{HIDDEN}", text))
    text = _FLAG.sub(rf"\1{HIDDEN}", text)
    text = _TAG.sub(rf"\1{HIDDEN}", _LOGIN.sub(rf"\1 {HIDDEN}", text))
    text = _NAMED.sub(lambda named: f"{named[1]}{named[2] or ''}{HIDDEN}", text)
    text = _TOLD.sub(lambda told: f"{told[1] or told[2]}{HIDDEN}", text)
    text = _KEY.sub(lambda key: key[0] if key[3] in names else f"{key[1]}{HIDDEN}", text)

    def spoken(said: re.Match[str]) -> str:
        return said[0] if (said[2] or said[4]).rstrip(".:)") in names else f"{said[1] or said[3]}{HIDDEN}"

    return without_random_words(_SAID.sub(spoken, text), HIDDEN, names)
