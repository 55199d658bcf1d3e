"""The names of the kinds are those of the CRDs."""

from gpucloud.kinds.definitions import DEFINITIONS
from gpucloud.kinds.names import KINDS


def test_every_kind_has_its_names():
    found = {(item.kind, item.plural, item.short_name) for item in DEFINITIONS}
    assert {(item.kind, item.plural, item.short) for item in KINDS} == found, (
        "add the kind to KINDS of kinds/names.py: kubectl gpucloud reads it there"
    )


def test_what_is_shown_of_a_kind_is_in_its_status():
    for names in KINDS:
        (definition,) = (item for item in DEFINITIONS if item.kind == names.kind)
        fields = {field.alias for field in definition.status.model_fields.values()}
        assert fields >= {*names.details, *names.wide_details}, names.kind
