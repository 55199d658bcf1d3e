"""What plots bring about: at the calls that they name, for as long as they say, and not after the storm."""

import pytest

from simulation import aims, situations
from simulation.choices import Choices
from simulation.stage import Stage


def test_a_fault_strikes_the_calls_that_it_names(court):
    court.world.arranged.fault("GetServers", "list-empty", times=2)
    assert [court.world.arranged.strikes(call) for call in ("GetVpcs", *3 * ["GetServers"])] == [
        "",
        "list-empty",
        "list-empty",
        "",
    ]


def test_a_fault_lasts_as_long_as_it_is_said_to(court):
    court.world.arranged.fault("GetServers", "list-empty", begin=10.0, end=20.0)
    struck = []
    for _ in range(3):
        struck.append(court.world.arranged.strikes("GetServers"))
        court.passes(10)
    assert struck == ["", "list-empty", ""]


def test_nothing_is_arranged_after_the_storm(court):
    done = []
    court.world.arranged.fault("GetServers", "list-empty")
    court.world.arranged.death("CreateServer", "sent")
    court.world.arranged.gap("gpuvms", begin=0.0, end=99.0)
    court.world.arranged.overtake("PUT", "/x", lambda: done.append(1))
    court.world.weather.over = True
    court.world.arranged.arrives("PUT", "/x")
    assert court.world.arranged.strikes("GetServers") == court.world.arranged.kills("cloud CreateServer") == ""
    assert court.world.arranged.told("gpuvms") == ("", 0.0)
    assert done == []


def test_a_write_is_overtaken_once(court):
    done = []
    court.world.arranged.overtake("PUT", "/x", lambda: done.append(1))
    for path in ("/y", "/x", "/x"):
        court.world.arranged.arrives("PUT", path)
    assert done == [1]


def test_news_come_late_or_never(court):
    court.world.arranged.late_news("gpuvms", 60.0, begin=0.0, end=10.0)
    court.world.arranged.gap("gpuvpcs", begin=0.0, end=10.0)
    told = court.world.arranged.told
    assert [told(plural) for plural in ("gpuvms", "gpuvpcs", "gpusnapshots")] == [
        ("watch-slow", 60.0),
        ("watch-410", 0.0),
        ("", 0.0),
    ]


def test_others_rarely_meddle_with_what_a_plot_is_about(court):
    Stage(court.world, "Msc1").vm("x")
    court.applied("a")
    everything = court.world.actors.owner.all("GpuVM")
    assert [item["metadata"]["name"] for item in court.world.actors.unstaged(everything)] == ["a"]


@pytest.mark.parametrize("plot", situations.PLOTS)
def test_every_plot_is_drawn_and_can_be_aimed_at(plot):
    assert aims.known(plot)
    assert any(plot in situations.drawn(Choices(seed)) for seed in range(3000))
