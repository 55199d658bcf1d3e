"""One entry per object: its parts, and that nothing is kept of an object that is gone."""

from dataclasses import dataclass

from gpucloud.engine.cache.entries import Entries
from gpucloud.engine.cache.store import Store
from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
from support.fakes import UID, a_body


@dataclass
class Count:
    value: int = 0


def test_a_part_is_made_on_first_use_and_kept():
    entries = Entries()
    entries.open("u")
    assert entries.find("u", Count) is None
    entries.part("u", Count).value = 3
    entries.open("u")
    assert (entries.part("u", Count).value, entries.find("u", Count).value) == (3, 3)
    assert list(entries.all(Count)) == [("u", Count(3))]


def test_what_is_noted_of_an_object_that_is_gone_is_kept_nowhere():
    entries = Entries()
    entries.part("gone", Count).value = 3
    assert (entries.part("gone", Count).value, entries.find("gone", Count), len(entries)) == (0, None, 0)


def test_the_store_opens_and_drops_the_entry():
    store = Store(GpuVMSpec, GpuVMStatus)
    store.put(a_body())
    store.entries.part(UID, Count).value = 3
    store.put(a_body(version=9))
    assert store.entries.part(UID, Count).value == 3, "a newer view is of the same object"
    store.drop(UID)
    assert len(store.entries) == 0
    store.put(a_body())
    assert store.entries.part(UID, Count).value == 0


def test_objects_are_numbered_as_they_are_first_seen():
    entries = Entries()
    for uid in ("b", "a", "b"):
        entries.open(uid)
    assert entries.number("b") < entries.number("a")
