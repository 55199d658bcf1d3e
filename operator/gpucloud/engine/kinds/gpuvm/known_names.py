"""The cloud's names that the message of a refused order may suggest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.reconcile.gpuvm.misnamed import KnownNames

if TYPE_CHECKING:
    from gpucloud.engine.cloud.accounts import ResolvedAccount


def known_names(account: ResolvedAccount, cluster: str, configuration: str) -> KnownNames:
    """Return the names that a message may suggest; none of the VMs of other namespaces, which the own account may show."""
    if account.session is None:
        return KnownNames()
    catalogue, learned = account.session.catalogue, account.session.learned
    configurations = catalogue.offered(cluster)
    elsewhere = () if configuration in configurations else catalogue.clusters_of(configuration)
    if account.facts.name == OWN_ACCOUNT:
        return KnownNames(configurations, elsewhere=elsewhere)
    return KnownNames(
        configurations, learned.pools.of(cluster), learned.images.of(cluster), elsewhere, learned.vpcs.of(cluster)
    )
