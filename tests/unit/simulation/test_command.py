"""The command line of ``python -m simulation``: how many histories it makes, and what it says of unknown words."""

from itertools import chain

import pytest

from simulation import __main__ as command
from simulation import aims, arguments, campaign, hunt, shards, single
from simulation.weather import Weather


@pytest.fixture
def asked(monkeypatch):
    """What the command asks for, instead of histories."""
    got = {}
    monkeypatch.setitem(command.MODES, "", lambda given: got.update(histories=given.histories, aim=given.aim) or 0)
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


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--exhaustive", "--depth", "-1"], "argument --depth: -1 is too few: give 1 or more"),
        (["--defects", "nonsense"], "no known defect has 'nonsense' in its name"),
        (["--without", "nonsense"], "no kind of fault or act is named 'nonsense'"),
        (["--without", "lgg"], "near: 'lag'"),
        (["--aim", ";"], "';' names nothing to aim at"),
        (["--minutes", "-1"], "-1 is no duration: give more than 0, or 0 for no limit"),
        (["--minutes", "soon"], "'soon' is not a number"),
        (["--histories", "abc"], "argument --histories: 'abc' is not a whole number"),
        (["--fleet", "0"], "argument --fleet: 0 is too few: give 1 or more"),
        (["--processes", "0"], "argument --processes: 0 is too few"),
        (["--replay", "/nope"], "there is no file '/nope'"),
        (["--digests", "1,abc"], "'abc' is not a whole number"),
        (["--seed", "0", "--fleet", "2"], "give one of --seed and --fleet"),
        (["--start", "ready"], "--start has an effect only with --exhaustive"),
        (["--depth", "3"], "--depth has an effect only with --exhaustive"),
        (["--rivals"], "--rivals has an effect only with --shards"),
        (
            ["--seed", "0", "--histories", "9"],
            "--histories has no effect with --seed, which heeds --whole, --without and --plant",
        ),
        (["--defects", "--first", "0"], "--first has no effect with --defects, which heeds --histories and --processes"),
        (["--fleet", "2", "--minutes", "1"], "--minutes has no effect with --fleet, which heeds --plant"),
        (["--shards", "--processes", "2"], "--processes has no effect with --shards"),
        (["--exhaustive", "--without", "lag"], "--without has no effect with --exhaustive"),
        (["--replay", __file__, "--whole"], "--whole has no effect with --replay"),
        (["--digests", "1", "--stop"], "--stop has no effect with --digests"),
    ],
)
def test_what_would_go_unheeded_is_refused_in_one_line(asked, capsys, words, says):
    with pytest.raises(SystemExit) as end:
        command.main(words)
    assert end.value.code == 2
    assert says in capsys.readouterr().err.splitlines()[-1]
    assert not asked


def test_each_mode_has_its_run_and_each_option_a_mode_that_heeds_it():
    options = {option.dest for option in arguments._parser("")._actions} - {"help"}
    assert arguments.HEEDED.keys() == command.MODES.keys()
    assert options == {*arguments.HEEDED, *chain(*arguments.HEEDED.values())} - {arguments.CAMPAIGN}


def test_histories_that_are_made_again_lack_the_same_faults(monkeypatch):
    """Otherwise every history would seem to depend on the hash seed."""
    monkeypatch.setattr(single, "quieten", lambda: None)
    monkeypatch.setattr(Weather, "without", Weather.without)
    assert command.main(["--histories", "1", "--processes", "1", "--without", "lag,situations,kube-503"]) == 0


def test_a_part_of_a_defects_name_plants_those(asked):
    command.main(["--defects", "10-mass"])
    assert asked["only"] == "10-mass"


def test_an_interrupt_is_no_traceback(monkeypatch, capsys):
    def interrupted(_given):
        raise KeyboardInterrupt

    monkeypatch.setitem(command.MODES, "", interrupted)
    assert command.main([]) == command.INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


def test_an_interrupted_campaign_tells_what_ran(monkeypatch, capsys):
    def outcomes(_given, _seeds):
        yield single.live(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(campaign, "_outcomes", outcomes)
    monkeypatch.setattr(single, "quieten", lambda: None)
    assert command.main(["--histories", "3"]) == command.INTERRUPTED
    assert capsys.readouterr().out.startswith("1 history in ")


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
