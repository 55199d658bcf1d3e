"""Whether what one credential shows may be believed of an object that belongs to a tenant."""

import pytest

from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.reconcile.accepted_absence import AcceptedAbsence
from gpucloud.reconcile.facts import Absent, AccountFacts, Present, Unknown, UnknownReason
from gpucloud.reconcile.tenancy import check_tenant
from support.builders import NOW, a_record

SINCE = NOW - 7
BLIND = Unknown(NOW - 3, UnknownReason.FORBIDDEN, "403")
GONE = Absent(NOW, NOW - 60, NOW - 30)


def seen(tenant):
    return Present(a_record().model_copy(update={"tenancy_name": tenant}), NOW)


def judged(found, tenancy, *tenants):
    return check_tenant(found, tenancy, AccountFacts("default", frozenset(tenants)), SINCE)


@pytest.mark.parametrize(
    ("found", "tenancy", "tenants"),
    [
        (GONE, None, ()),  # no tenant is recorded: there is nothing to compare with
        (GONE, None, ("other",)),
        (seen("other"), None, ("other",)),
        (BLIND, "acme", ("other",)),  # blindness keeps its own cause
        (BLIND, "acme", ()),
        (seen("acme"), "acme", ()),  # the record itself is the proof
        (seen("acme"), "acme", ("acme",)),
        (seen("acme"), "acme", ("other",)),
        (seen(None), "acme", ()),  # every field of an answer may be null
        (seen(None), "acme", ("other",)),
        (GONE, "acme", ("acme",)),
        (GONE, "acme", ("acme", "other")),
    ],
)
def test_what_is_believed_stays_as_it_is(found, tenancy, tenants):
    assert judged(found, tenancy, *tenants) is found


@pytest.mark.parametrize(
    ("found", "tenants", "says"),
    [
        (
            GONE,
            ("other",),
            ("Account 'default'", "of tenant 'other'; this object is of tenant 'acme'", "Put a key of tenant 'acme' back"),
        ),
        (GONE, ("two", "one"), ("of tenant 'one' and 'two';",)),
        (seen("other"), ("other",), ("of tenant 'other';", "Put a key of tenant 'acme' back")),
        (
            seen("other"),
            ("acme",),
            ("belongs to tenant 'other'", "this object to 'acme'", "nothing is done to it"),
        ),
        (seen("other"), (), ("belongs to tenant 'other'",)),
        (GONE, (), ("account 'default'", "has shown nothing of this object's tenant 'acme', so")),
    ],
)
def test_what_another_tenant_shows_or_lacks_is_unknown(found, tenants, says):
    judgement = judged(found, "acme", *tenants)
    assert (judgement.since, judgement.cause) == (SINCE, UnknownReason.TENANT)
    assert all(words in judgement.detail for words in says), judgement.detail
    assert judgement.detail.endswith(".")


def test_the_operators_own_credential_is_the_administrators_affair():
    judgement = check_tenant(GONE, "acme", AccountFacts(OWN_ACCOUNT, frozenset({"other"})), SINCE)
    assert "The operator's own credential is of tenant 'other'" in judgement.detail
    assert "Ask the administrator to put a key of tenant 'acme' back" in judgement.detail


UP_TO_THEN = AcceptedAbsence(SINCE, too_early="Too early.")


def test_a_person_ends_the_doubt_about_a_credential_that_has_shown_nothing():
    assert check_tenant(GONE, "acme", AccountFacts("default"), SINCE, accepted=UP_TO_THEN) is GONE
    later = check_tenant(
        GONE, "acme", AccountFacts("default"), SINCE + 0.1, accepted=UP_TO_THEN, way_out="kubectl annotate this"
    )
    assert later.cause is UnknownReason.TENANT, "the credential came into use after the person said so"
    assert "Too early. If the resource is gone: kubectl annotate this; " in later.detail


@pytest.mark.parametrize(("found", "tenants"), [(GONE, {"other"}), (seen("other"), {"other"}), (seen("other"), ())])
def test_nobody_can_accept_what_another_tenant_shows_or_lacks(found, tenants):
    """The history: accept-absence stood on the object, the key became another tenant's, and the VM was left alone."""
    judgement = check_tenant(found, "acme", AccountFacts("default", frozenset(tenants)), SINCE, accepted=UP_TO_THEN)
    assert isinstance(judgement, Unknown)
    assert "accept-absence" not in judgement.detail
    assert "Too early" not in judgement.detail
