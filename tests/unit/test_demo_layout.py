"""What the demo prints fits the width that it has; its commands can be pasted."""

import shlex

import pytest

from demo import layout

PATCH = """kubectl patch gpuvm builder --type=merge -p '{"spec": {"powerState":"Stopped"}}'"""
OPERATOR = "KUBECONFIG=/tmp/kubeconfig gpucloud operator --endpoint default=http://127.0.0.1:40123 --namespace gpucloud-demo"


def test_prose_is_wrapped_and_its_paragraphs_stay():
    assert layout.prose("one two three\n\nfour-five six", 10) == ["one two", "three", "", "four-five", "six"]


@pytest.mark.parametrize("width", [20, 40, 79, 80, 81, 200])
@pytest.mark.parametrize("text", [PATCH, OPERATOR, "kubectl get gpuvm"])
def test_a_broken_command_is_the_same_command_to_a_shell(text, width):
    lines = layout.command(text, width, "  ")
    assert shlex.split("\n".join(lines).replace("\\\n", "")) == shlex.split(text)
    assert all(line.endswith(" \\") for line in lines[:-1])


def test_an_option_and_its_value_stay_together():
    assert layout.command(OPERATOR, 80, "$ ") == [
        "$ KUBECONFIG=/tmp/kubeconfig gpucloud operator \\",
        "    --endpoint default=http://127.0.0.1:40123 --namespace gpucloud-demo",
    ]
    assert layout.command(PATCH, 60) == [
        "kubectl patch gpuvm builder --type=merge \\",
        """    -p '{"spec": {"powerState":"Stopped"}}'""",
    ]


def test_a_word_that_is_too_long_stays_whole():
    name = f"export KUBECONFIG=/{'x' * 90}"
    assert layout.command(name, 80, "  ") == [f"  {name}"]


def test_of_what_was_printed_a_row_is_cut_and_a_sentence_wrapped():
    assert layout.printed("NAME   READY   REASON", 15) == ["NAME   READY  …"]
    assert layout.printed("gpuvms.gpucloud.dev condition met", 30) == ["gpuvms.gpucloud.dev condition", "  met"]
    assert layout.printed("short", 30) == ["short"]
