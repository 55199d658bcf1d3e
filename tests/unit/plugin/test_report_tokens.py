"""``report``: tokens with a well-known beginning are removed wherever they stand, and nothing that only resembles them."""

import random
import string

import pytest

from gpucloud.cli.plugin.report.scrubbing import scrubbed
from gpucloud.cli.plugin.report.tokens import TOKENS, without_tokens

MIXED = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
UPPER = "ABCDEFGHIJ234567"
# made up, and put together here, so that no scanner of secrets takes them for real ones
EXAMPLES = {
    "GitHub": ("ghp_" + MIXED, "gho_" + MIXED, "ghs_" + MIXED, "github_pat_" + MIXED[:22] + "_" + MIXED),
    "GitLab": ("glpat-" + "aB3-dE6_gH9jK2mN5pQ8", "gldt-" + MIXED[:20], "glrt-" + MIXED[:20]),
    "Hugging Face": ("hf_" + MIXED[:34],),
    "OpenAI, Anthropic and others": ("sk-" + MIXED, "sk-proj-" + "a_B-3" * 9, "sk-ant-api03-" + MIXED),
    "DeepSeek": ("sk-" + "0123456789abcdef" * 2,),
    "NVIDIA": ("nvapi-" + MIXED,),
    "AWS": ("AKIA" + UPPER, "ASIA" + UPPER),
    "Google": ("AIza" + MIXED[:35],),
    "Slack": ("xoxb-" + "123456789012-1234567890123-" + MIXED[:24], "xoxp-" + "12345678-" + "0123456789abcdef" * 2),
    "Docker Hub": ("dckr_pat_" + MIXED[:27],),
    "npm and PyPI": ("npm_" + MIXED, "pypi-AgEI" + MIXED),
    "Vault": ("hvs." + MIXED,),
    "JSON Web Token": ("eyJhbGciOi.eyJzdWIi.s-gn_1",),
}
AROUND = ["{}", "said {}, twice", '"{}"', '{{"error": "no\\n{}\\n"}}', "x={}&y", "a%3D{}", "({})", "/{}/", "line\n{}\n"]


def test_each_row_has_an_example():
    assert EXAMPLES.keys() == {row.service for row in TOKENS}
    assert all(row.why for row in TOKENS)


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("token", [token for tokens in EXAMPLES.values() for token in tokens], ids=lambda token: token[:9])
def test_a_token_is_removed_without_a_name_before_it(token, around):
    assert scrubbed(around.format(token)) == around.format("[removed]")


def test_a_pgp_key_is_removed():
    block = "-----BEGIN PGP PRIVATE " + "KEY BLOCK-----\n\nlQOY\n=a1\n-----END PGP PRIVATE " + "KEY BLOCK-----"
    assert scrubbed(f"a\n{block}\nb") == "a\n[removed]\nb"


@pytest.mark.parametrize(
    "text",
    [
        "uid 550e8400-e29b-41d4-a716-446655440000",
        "registry.example/img@sha256:" + "0123456789abcdef" * 4,
        "sha256:" + "0123456789abcdef" * 4,
        "commit 237aab5e0c9e0f7a8b6c5d4e3f2a1b0c9d8e7f6a",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl ann",
        "sk-learn-training-on-a100-number-12",
        "sk-550e8400-e29b-41d4-a716-446655440000",
        "glpat-training-on-a100-number-12",
        "xoxo-12345678-and-a-long-name-of-a-vm",
        "nvapi-training-on-a100-number-12",
        "hf_hub_download failed",
        "risk-AssessmentOfTheYear2026ForAll",
        "AKIA is the beginning of a key of AWS",
        "A100_40GB_PCIe_1x, Ubuntu_22.04.4_LTS",
        "ghp_ and hf_ are beginnings of tokens",
        "SHA256:" + "uNiVztksCsDhcc0u9e8BrqDzo" * 2,
    ],
)
def test_what_is_no_token_stays(text):
    assert scrubbed(text) == text


def test_a_token_begins_where_a_word_does():
    """By the beginning alone; that the word is random is another rule."""
    assert without_tokens("desk-" + MIXED, "[removed]") == "desk-" + MIXED


def test_public_keys_stay_as_they_are():
    """A key in base64 may hold any letters; 500 of them, each twice as long as an RSA key."""
    made = random.Random(1)
    for _ in range(500):
        key = "ssh-rsa AAAAB3NzaC1yc2E" + "".join(made.choices(string.ascii_letters + string.digits + "+/", k=700)) + "== ann"
        assert scrubbed(key) == key


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece",
    [
        "sk-",
        "sk-A",
        "sk-a.",
        "\\nsk-",
        "%3Dsk-",
        "ghp_",
        "ghp_a",
        "AKIA",
        "AKIA.",
        "xoxb-",
        "xoxb-1-",
        "xoxb-1",
        "glpat-",
        "eyJ-.",
        "github_pat_",
        "nvapi-",
        "hvs.",
        "AIza",
        "pypi-AgEI",
        "-sk-A",
        "hf_",
        "a-",
    ],
)
def test_a_long_text_takes_no_longer_for_being_in_one_piece(piece):
    scrubbed(piece * (200_000 // len(piece)))


@pytest.mark.timeout(20)
def test_a_text_of_nothing_but_beginnings_of_keys_takes_no_longer():
    scrubbed("-----BEGIN PGP PRIVATE KEY BLOCK-----" * 5_000)
