"""``doctor``: accounts and their Secrets. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.cli.plugin.doctor.facts import Finding, Severity
from gpucloud.cli.plugin.model.dependencies import World
from gpucloud.cli.plugin.model.health import Standing, message, reason, standing
from gpucloud.cli.plugin.model.objects import ACCOUNT, VM
from gpucloud.cli.plugin.model.reasons import OF_MISSING_DATA
from gpucloud.cli.terminal.marks import paste
from gpucloud.cli.terminal.page import followed_by
from gpucloud.cli.terminal.text import few
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.price import in_cloud

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpucloud.cli.plugin.doctor.facts import Facts
    from gpucloud.cli.plugin.model.objects import Key, Thing

# All that a Secret holds, as lines that `kubectl create secret --from-env-file` reads: an API key, or user name and password.
CONTENT = """go-template='{{range $name, $value := .data}}{{$name}}={{$value | base64decode}}{{"\\n"}}{{end}}'"""


def accounts(facts: Facts) -> Iterator[Finding]:
    """Accounts that are not Ready, but for those that lack their Secret: that is named as missing."""
    for item in facts.things:
        unready = standing(item) in {Standing.WORKING, Standing.UNKNOWN}
        if item.key.kind == ACCOUNT and unready and reason(item) not in OF_MISSING_DATA:
            yield Finding(
                Severity.WARNING,
                "accounts",
                f"{reason(item)}: {message(item)}",
                f"Objects that use it wait. Do as the message says. More: {paste(f'kubectl gpucloud explain {reason(item)}')}",
                item.key,
            )


def secrets(facts: Facts) -> Iterator[Finding]:
    """Secrets that somebody has deleted while an account uses them: that deletion ends only when the account uses another."""
    world = World.of(facts.things, facts.unread)
    for item in facts.things:
        is_told = reason(item) == Reason.SECRET_DELETING
        if item.key.kind == ACCOUNT and (is_told or item.key in facts.dying_secrets):
            vms = [str(vm.key) for vm in facts.things if _needs(world, vm, item.key)]
            needed = f"{len(vms)} {'VM needs' if len(vms) == 1 else 'VMs need'} it: {few(vms)}." if vms else ""
            said = message(item) if is_told else "Its Secret is being deleted, which the operator has not told yet."
            words = followed_by(f"{Reason.SECRET_DELETING}: {said}", needed)
            yield Finding(Severity.WARNING, "accounts", words, _new_secret(item), item.key)


def _needs(world: World, vm: Thing, account: Key) -> bool:
    return vm.key.kind == VM and world.account(vm) == account and in_cloud(vm.status, vm.uid)


def _new_secret(account: Thing) -> str:
    """How to have the account use another Secret with the same content; its finalizer then leaves the old one."""
    reference, here = account.spec.get("secretRef"), f"--namespace={account.key.namespace}"
    old = str(reference.get("name", "")) if isinstance(reference, dict) else ""
    change = f'{{"spec":{{"secretRef":{{"name":"{old}-2"}}}}}}'
    read = paste(f"kubectl get secret {old} {here} -o {CONTENT}")
    write = paste(f"kubectl create secret generic {old}-2 {here} --from-env-file=/dev/stdin")
    use = paste(f"kubectl patch gpucloudaccount {account.key.name} {here} --type=merge --patch '{change}'")
    why = "Copy the credential to another Secret, and have the account use that one, which frees the old one"
    return f"{why}: {read} | {write} && {use}"
