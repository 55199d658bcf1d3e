"""Names that the cloud has shown, by cluster: only such as a message can show."""

import pytest

from gpucloud.cloud.models import ConfigurationRecord
from gpucloud.engine.cloud.configuration_records import clusters, offered
from gpucloud.engine.cloud.seen_names import LONGEST_NAME, MOST_NAMES, SeenNames


def test_names_are_of_a_cluster_in_any_spelling():
    seen = SeenNames()
    seen.add("Msc1", ("b", "a"))
    seen.add("msc1", ("b", "c"))
    seen.add("Hou1", ("d",))
    assert (seen.of("MSC1"), seen.of("Hou1"), seen.of("Ams1")) == (("a", "b", "c"), ("d",), ())


@pytest.mark.parametrize("name", [None, "", "x" * (LONGEST_NAME + 1), "a\nb", "\x1b[31m"])
def test_what_no_message_could_show_is_left_out(name):
    seen = SeenNames()
    seen.add("Msc1", (name,))
    assert seen.of("Msc1") == ()


def test_an_answer_without_end_is_not_kept():
    seen = SeenNames()
    seen.add("Msc1", map(str, range(10 * MOST_NAMES)))
    assert len(seen.of("Msc1")) == MOST_NAMES


def test_a_configuration_is_offered_in_the_clusters_that_it_names():
    found = offered(
        [ConfigurationRecord(name="x", clusters=("Msc1", "Hou1")), ConfigurationRecord(name="y"), ConfigurationRecord()]
    )
    assert (found.of("Msc1"), found.of("Ams1")) == (("x",), ())


def test_where_a_configuration_is_offered_is_told_as_the_cloud_spells_it():
    found = clusters(
        [
            ConfigurationRecord(name="x", clusters=("Msc1", "Hou1", "a\nforged line")),
            ConfigurationRecord(name="y"),
            ConfigurationRecord(clusters=("Msc1",)),
        ]
    )
    assert found == {"x": ("Hou1", "Msc1")}
