"""Which credential an object uses, and what it is told when there is none."""

import pytest

from gpucloud.engine.cloud.accounts import Account, Accounts
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.gpucloudaccount import AccountDefaults
from gpucloud.kinds.gpuvm import GpuVMStatus
from gpucloud.reconcile.facts import UnknownReason
from support.builders import a_spec, an_object, an_order
from support.fakes import HandClock

NAMES = ("default", "prod", "frozen")


class Rig:
    def __init__(self, a_session, own_namespaces=()):
        self.clock = HandClock()
        self.accounts = Accounts(own_namespaces, self.clock.mono)
        self.own = a_session()
        self.accounts.own = Account(OWN_ACCOUNT, self.own)
        self.a_session = a_session

    def put(self, name, namespace="team", session=True, **more):
        found = self.a_session() if session else None
        self.accounts.put(namespace, Account(name, found, **more))
        return found

    def resolve(self, ref=None, status=None, namespace="team", **recorded):
        spec = a_spec(**({"accountRef": {"name": ref}} if ref else {}))
        return self.accounts.resolve(an_object(namespace=namespace), spec, GpuVMStatus(account=status, **recorded))


@pytest.fixture
def rig(a_session):
    return Rig(a_session)


@pytest.mark.parametrize(
    ("there", "ref", "status", "chosen"),
    [
        (NAMES, "prod", "frozen", "prod"),  # what the spec says
        (NAMES, None, "frozen", "frozen"),  # what was frozen
        (NAMES, None, None, "default"),
        ((), None, None, OWN_ACCOUNT),
        (("prod",), None, None, OWN_ACCOUNT),  # no other name is a default
        (NAMES, None, OWN_ACCOUNT, OWN_ACCOUNT),  # frozen before the default came
        (NAMES, "prod", OWN_ACCOUNT, "prod"),
    ],
)
def test_the_order_of_choice(rig, there, ref, status, chosen):
    sessions = {name: rig.put(name) for name in there} | {OWN_ACCOUNT: rig.own}
    resolved = rig.resolve(ref, status)
    assert (resolved.facts.name, resolved.session) == (chosen, sessions[chosen])


LIST = "kubectl get gpucloudaccounts --namespace=team"


@pytest.mark.parametrize(("ref", "status"), [("gone", None), (None, "gone"), ("gone", "default"), ("gone", OWN_ACCOUNT)])
def test_what_is_named_and_not_there_is_waited_for_and_nothing_else_taken(rig, ref, status):
    rig.put("default")
    resolved = rig.resolve(ref, status)
    assert (resolved.session, resolved.unknown.cause, resolved.facts.name) == (None, UnknownReason.ACCOUNT, "gone")
    assert "GpuCloudAccount 'gone' in namespace 'team'" in resolved.unknown.detail


@pytest.mark.parametrize(
    ("ref", "status", "order", "says", "why"),
    [
        (
            "gone",
            "gone",
            None,
            "there is none. Create it (kubectl gpucloud explain AccountNotReady); or delete this object, and create it with",
            "nothing was bought: it can be corrected",
        ),
        (
            "gone",
            "gone",
            an_order("train"),
            "there is none. Create GpuCloudAccount 'gone' (kubectl gpucloud explain AccountNotReady).",
            "the account was there, and its VM may be",
        ),
        (
            None,
            "gone",
            None,
            "there is none. Create GpuCloudAccount 'gone' (kubectl gpucloud explain Acc",
            "no field of the spec names it",
        ),
    ],
)
def test_an_account_that_is_missing_is_told_with_a_way_out(rig, ref, status, order, says, why):
    detail = rig.resolve(ref, status, order=order).unknown.detail
    assert (says in detail, detail.endswith(f" The accounts that there are: {LIST}")) == (True, True), why


@pytest.mark.parametrize(
    ("namespace", "meant", "why"),
    [
        (
            "team",
            "Did you mean 'prod'? Then delete this object and create it again with spec.accountRef.name: prod. Else create Gpu",
            "a slip",
        ),
        ("others", "there is none. Create it", "not its own"),
    ],
)
def test_an_account_that_is_missing_is_told_with_the_name_that_is_near(rig, namespace, meant, why):
    rig.put("prod", namespace=namespace)
    detail = rig.resolve("prdo").unknown.detail
    assert (meant in detail, detail.endswith(f": {LIST}")) == (True, True), why


@pytest.mark.parametrize(("ref", "status"), [("prod", None), (None, "prod"), (None, None)])
def test_an_account_of_another_namespace_is_never_found(rig, ref, status):
    for name in ("prod", "default"):
        rig.put(name, namespace="others")
    resolved = rig.resolve(ref, status)
    assert resolved.session in {None, rig.own}
    assert resolved.facts.name in {"prod", OWN_ACCOUNT}


@pytest.mark.parametrize("status", [None, OWN_ACCOUNT])
@pytest.mark.parametrize(("namespace", "served"), [("team", True), ("others", False)])
def test_the_operators_own_serves_only_the_namespaces_that_the_flag_names(a_session, namespace, served, status):
    """Whoever edits a status gains no credential by it."""
    it = Rig(a_session, ("team",))
    resolved = it.resolve(None, status, namespace)
    assert (resolved.session is it.own) is served
    if not served:
        assert resolved.unknown.cause is UnknownReason.NO_ACCOUNT
        assert "--own-account-namespace" in resolved.unknown.detail
        assert ("does not serve" in resolved.unknown.detail) is (status is None)
        recorded = (
            "This object uses the operator's own account; namespace 'others' may not. Ask the administrator to add 'others' to "
            "--own-account-namespace."
        )
        assert (resolved.unknown.detail == recorded) is (status is not None)


def test_an_operator_without_an_account_of_its_own_says_what_to_create(rig):
    rig.accounts.own = None
    resolved = rig.resolve()
    assert (resolved.session, resolved.unknown.cause) == (None, UnknownReason.NO_ACCOUNT)
    assert "No GpuCloudAccount is named 'default' in namespace 'team'" in resolved.unknown.detail
    way_out = "or recreate this object with spec.accountRef"
    assert resolved.unknown.detail.endswith(f". Create it (kubectl gpucloud explain NoAccount), {way_out}: {LIST}")


def test_an_object_of_the_operators_own_account_waits_for_that_one_and_is_not_told_to_create_another(rig):
    rig.accounts.own = None
    rig.put("default")
    resolved = rig.resolve(None, OWN_ACCOUNT)
    assert (resolved.session, resolved.unknown.cause) == (None, UnknownReason.NO_ACCOUNT)
    assert resolved.unknown.detail == (
        "This object uses the operator's own account, which is missing. Ask the administrator to set GPUCLOUD_API_KEY or the "
        "login again."
    )


@pytest.mark.parametrize("missing", [True, False])
def test_what_may_have_been_ordered_is_not_told_to_be_created_anew(a_session, missing):
    """That would destroy it, and an object that is being deleted cannot be created anew."""
    it = Rig(a_session, () if missing else ("team",))
    it.accounts.own = None if missing else it.accounts.own
    deleting = it.accounts.resolve(an_object(namespace="others", deleting=True), a_spec(), GpuVMStatus()).unknown.detail
    assert deleting.endswith("Create it (kubectl gpucloud explain NoAccount).")


FIRST = "account 'lab' is at 'eu' now. Ask the administrator to make 'prod' the first --endpoint again."
NAMED = (
    "spec.endpoint of account 'lab' is 'eu'. Do as the account's condition Ready says: "
    "kubectl describe gpucloudaccount lab --namespace=team"
)


@pytest.mark.parametrize(("names_endpoint", "says"), [(False, FIRST), (True, NAMED)])
def test_an_object_that_was_ordered_at_another_endpoint_says_how_the_account_comes_back_there(rig, names_endpoint, says):
    rig.put("lab", endpoint="eu", names_endpoint=names_endpoint)
    resolved = rig.resolve("lab", endpoint="prod")
    assert (resolved.session, resolved.unknown.cause) == (None, UnknownReason.ENDPOINT)
    assert resolved.unknown.detail.endswith(f"and {says}")


@pytest.mark.parametrize("name", ["default", "prod", "../others/prod", "others/prod", "(operator)"])
def test_an_edited_status_changes_nothing_for_an_object_with_a_reference(rig, name):
    mine = rig.put("mine")
    rig.put("prod")
    assert rig.resolve("mine", name).session is mine


def test_a_status_cannot_name_its_way_out_of_the_namespace(rig):
    theirs = rig.put("prod", namespace="others")
    for name in ("../others/prod", "others/prod", "prod"):
        assert rig.resolve(None, name).session is not theirs


@pytest.mark.parametrize(
    ("trouble", "cause", "words"),
    [
        ("its Secret 'key' does not exist.", UnknownReason.ACCOUNT, "its Secret 'key' does not exist."),
        ("", UnknownReason.NOT_LISTED, "its Secret has not been read yet."),  # no verdict changes at a restart (seed 129)
    ],
)
def test_an_account_without_a_session_tells_its_trouble_and_is_not_passed_over(rig, trouble, cause, words):
    rig.put("default", session=False, trouble=trouble)
    resolved = rig.resolve()
    assert (resolved.session, resolved.unknown.cause) == (None, cause)
    assert resolved.unknown.detail.endswith(words)


def test_blindness_begins_once(rig):
    began = rig.clock.now
    assert rig.resolve("gone").unknown.since == began
    rig.clock.now += 50
    assert rig.resolve("gone").unknown.since == began
    rig.put("gone", session=False, trouble="no Secret.")
    rig.clock.now += 50
    assert rig.resolve("gone").unknown.since == began, "there is an account now, and still no session"
    rig.put("gone")
    assert rig.resolve("gone").unknown is None
    rig.put("gone", session=False, trouble="no Secret.")
    assert rig.resolve("gone").unknown.since == rig.clock.now, (
        "and a second period without a session has a beginning of its own"
    )


@pytest.mark.parametrize("session", [True, False])
def test_leaving_and_defaults_are_handed_on(rig, session):
    defaults = AccountDefaults(resource_pool="reserved")
    rig.put("default", session=session, deleting=True, defaults=defaults)
    resolved = rig.resolve()
    assert resolved.deleting
    assert resolved.defaults == (defaults if session else None)


def test_the_tenants_that_a_session_has_shown_are_the_seats(rig):
    session = rig.put("default")
    assert rig.resolve().facts.tenants == frozenset()
    session.learned.tenants = frozenset({"acme"})
    assert rig.resolve().facts.tenants == {"acme"}


def test_a_change_is_told_and_a_repetition_is_not(rig, a_session):
    session, accounts = a_session(), rig.accounts
    assert accounts.put("team", Account("a", session))
    assert not accounts.put("team", Account("a", session))
    assert accounts.put("team", Account("a", a_session()))
    assert accounts.put("team", Account("a", None, "gone."))
    assert accounts.put("team", Account("a", None, "gone.", deleting=True))
    assert accounts.drop("team", "a").deleting
    assert accounts.drop("team", "a") is None
