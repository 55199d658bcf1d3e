"""The command line of ``python -m simulation``: how many histories it makes, and what it says of unknown words."""

import pytest

from simulation import __main__ as command
from simulation import aims, campaign, hunt, shards


@pytest.fixture
def asked(monkeypatch):
    """What the command asks for, instead of histories."""
    got = {}
    monkeypatch.setattr(campaign, "run", lambda given: got.update(histories=given.histories, aim=given.aim) or 0)
    monkeypatch.setattr(hunt, "table", lambda most, _processes, only: got.update(histories=most, only=only) or 0)
    monkeypatch.setattr(
        shards, "run", lambda histories, first, *, rivals: got.update(histories=histories, first=first, rivals=rivals) or 0
    )
    return got


@pytest.mark.parametrize(
    ("words", "histories", "why"),
    [
        ([], 2_000, "a campaign"),
        (["--defects"], 5_000, "some defects show in one of thousands only, as docs/reliability.md says"),
        (["--defects", "--histories", "7"], 7, "what is given counts"),
        (["--shards"], 300, ""),
        (["--shards", "--histories", "7", "--first", "3"], 7, "a number of histories is said in one way"),
    ],
)
def test_how_many_histories_are_made(asked, words, histories, why):
    assert command.main(words) == 0
    assert asked["histories"] == histories, why


def test_what_is_aimed_at_is_several_words(asked):
    command.main(["--aim", "shared account;own account"])
    assert asked["aim"] == ("shared account", "own account")


@pytest.mark.parametrize(
    ("aim", "says"), [("made agian", "'made again'"), ("zzzzzzzz", "tests/simulation/aims.py"), ("lag;lgg", "named 'lgg'")]
)
def test_an_unknown_word_is_named_and_no_history_made(asked, capsys, aim, says):
    with pytest.raises(SystemExit) as end:
        command.main(["--aim", aim])
    assert end.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("python -m simulation: error: argument --aim: no plot, kind of fault, act or setting is named")
    assert says in last
    assert not asked


def test_a_range_without_a_history_of_that_kind_is_said_in_one_line(capsys):
    assert command.main(["--aim", "two replicas;nobody lists objects;etcd goes back", "--histories", "1"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("no history of the seeds 0 to 0 has 'two replicas' and 'nobody lists objects' and")
    assert len(said.err.splitlines()) == 1


def test_a_defect_that_no_history_of_a_range_can_show_is_not_found():
    """Which is no failure of the world."""
    name = next(name for name, aim in hunt.AIMS.items() if aim and not any(aims.meets(seed, aim) for seed in range(3)))
    assert hunt.found_after(name, 3, 1) == "not within 3"
