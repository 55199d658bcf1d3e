"""Histories are the same twice, can be told, and made again from what was told."""

from simulation import single, telling


def test_a_seed_is_the_same_twice_and_when_it_is_made_again_from_its_deviations():
    first = single.live(7)
    assert single.live(7).digest == first.digest
    assert single.live(7, first.deviations).digest == first.digest
    assert single.live(8).digest != first.digest


def test_a_history_is_told_with_its_faults_and_its_end(monkeypatch, tmp_path):
    monkeypatch.setattr(telling, "OUT", tmp_path)
    text = telling.story(3, shrink=False)
    assert "operator-0.1" in text
    assert "CreateServer" in text
    assert "faults are over" in text


def test_a_told_history_is_made_again_from_its_text():
    deviations = {("vm name", 0): "prod", ("act", 0): "stranger destroys", ("vm power", 0): "Stopped", ("gap", 0): 2.5}
    lived = single.live(8, deviations, keep=True)
    told = [f"  {domain} [{number}] = {value!r}" for (domain, number), value in lived.deviations.items()]
    assert telling.replay("\n".join(["seed 8: quiet, 4 deviations after 3 runs", *told])).lines == lived.lines
