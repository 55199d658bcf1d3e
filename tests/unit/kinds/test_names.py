"""The names of the kinds are those of the CRDs."""

from gpucloud.kinds.definitions import DEFINITIONS
from gpucloud.kinds.names import KINDS


def test_every_kind_has_its_names():
    found = {(item.kind, item.plural, item.short_name) for item in DEFINITIONS}
    assert set(map(tuple, KINDS)) == found, "add the kind to KINDS of kinds/names.py: kubectl gpucloud reads it there"
