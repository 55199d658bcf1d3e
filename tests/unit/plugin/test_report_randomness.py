"""``report``: words that were drawn at random are removed wherever they stand, and names that people make are not."""

import random
import string
from pathlib import Path

import pytest

from gpucloud.cli.plugin.report.random_words import without_random_words

ROOT = Path(__file__).parents[3]
ALPHABETS = {
    # letters, length, at least so many of a hundred are recognised
    "a short password": (string.ascii_letters + string.digits, 12, 70),
    "letters and digits": (string.ascii_letters + string.digits, 20, 98),
    "small letters and digits": (string.ascii_lowercase + string.digits, 32, 90),
    "hexadecimal": ("0123456789abcdef", 32, 95),
    "letters": (string.ascii_letters, 24, 90),
    "base64": (string.ascii_letters + string.digits + "+/", 32, 90),
    "base64 for URLs": (string.ascii_letters + string.digits + "-_", 32, 90),
}
PAGES = sorted(path for folder in ("docs", "operator/gpucloud/kinds") for path in (ROOT / folder).rglob("*.[mp][dy]"))


@pytest.mark.parametrize(("letters", "length", "least"), ALPHABETS.values(), ids=ALPHABETS)
def test_random_words_are_recognised(letters, length, least):
    made = random.Random(1)
    words = ["".join(made.choices(letters, k=length)) for _ in range(1000)]
    gone = sum(len(without_random_words(word, "")) <= 2 for word in words)
    assert gone >= 10 * least


@pytest.mark.parametrize(
    "around", ["{}", "the {} was", '"{}"', "ann/{}", "x={}&y", "\\\\n{}\\\\n", "%3D{}", "({}).", "key:{},"]
)
def test_a_random_word_is_removed_whatever_stands_around_it(around):
    assert without_random_words(around.format("q7Rk2Vb9Lx4Tz1Wm8Nc5"), "[removed]") == around.format("[removed]")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("f47ac10b-58cc-4372-a567-0e02b2c3d479", "a UID"),
        ("operator-0_f47ac10b-58cc-4372-a567-0e02b2c3d479", "the holder of a Lease"),
        ("train-k3x9a-3k2j4h5g6f, old-k3x9a-final-3k2j4h5g6f", "names that the operator gives"),
        ("gpucloud-operator-7d9f8b6c5d-x2x9z", "a pod"),
        ("A100_40GB_PCIe_1x, H100_80GB_SXM5_8x_InfiniBand, Ubuntu_22.04.4_LTS", "configurations and an image"),
        ("2026-11-27T23:09:56.752000+00:00 20261127T230956Z", "times"),
        ("ServiceUnavailableForLegalReasons451, lastTransitionTime", "reasons and fields"),
        ("/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuvms/train", "a path"),
        ("registry.example:5000/a/b@sha256:" + "0123456789abcdef" * 4, "the digest of an image"),
        ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl ann", "a public key"),
        ("A100/H100/B200/L40S/A6000/V100", "models"),
        ("1234567890123456789012345", "a number"),
        ("Ubuntu2404LTS, A100x40GBPCIe, InfiniBand2x, GpuVM2Ready", "short names with capitals and digits"),
        ("events 'train.188675c6d6355460', /namespaces/team/events/default.18867600c61bf180", "names of Events"),
    ],
)
def test_what_is_not_random_stays(text, why):
    assert without_random_words(text, "[removed]") == text, why


def test_only_a_time_ends_the_name_of_an_event():
    assert without_random_words("train.a88675c6d6355460", "[removed]") == "[removed]"


def test_names_of_objects_stay():
    name = "vm0a1b2c3d4e5f6a7b8c9d"
    text = f"GpuVM/{name}, team/{name}, {name}"
    assert without_random_words(text, "[removed]", {name}) == text
    assert without_random_words(text, "[removed]") == "GpuVM/[removed], team/[removed], [removed]"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_our_own_pages_and_fields_hold_no_word_that_looks_random(page):
    """What the operator says is made of these words. A key in an example is one, and would be removed from a report, too."""
    lines = [line for line in page.read_text().splitlines() if "AAAA" not in line]
    assert [line for line in lines if without_random_words(line, "") != line] == []
