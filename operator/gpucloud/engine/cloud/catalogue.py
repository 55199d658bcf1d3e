"""Cache of configurations and prices, refreshed in the background at most once an hour. No reconcile waits for a refresh.

A refresh that fails is repeated by itself, and whoever waits for a price is triggered when it becomes known, however late the
answer comes: nothing else may ask again, as a Ready VM is not reconciled.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from gpucloud.cloud.errors import CloudError
from gpucloud.engine.cloud.configuration_records import clusters, names, offered, prices
from gpucloud.engine.cloud.seen_names import SeenNames
from gpucloud.engine.runtime.supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.cloud.models import ConfigurationRecord, Listing
    from gpucloud.cloud.reader import CloudReader
    from gpucloud.engine.runtime.clock import Clock

log = structlog.get_logger("gpucloud.catalogue")

REFRESH_SECONDS = 3600.0
RETRY_SECONDS = 60.0  # after a failure: a price limit, and each status without a price, may wait for it


class Catalogue:
    """Prices by configuration name. An unknown price is None."""

    def __init__(
        self,
        client: CloudReader,
        clock: Clock,
        tasks: Supervisor | None = None,
        learned: Callable[[], None] = lambda: None,
        *,
        host: str = "",
    ) -> None:
        """``learned`` is called when the price of a configuration has become known. ``host`` is the cloud's, for the log."""
        self._client, self._host = client, host
        self._tasks = tasks or Supervisor()
        self._clock, self._learned = clock, learned
        self._prices: dict[str, str] = {}
        self._offered = SeenNames()
        self._names: dict[str, str] = {}
        self._clusters: dict[str, tuple[str, ...]] = {}
        self._ask_at: float | None = None
        self._task: asyncio.Task[None] | None = None

    def price_per_hour(self, configuration: str) -> str | None:
        """Return dollars per hour for the whole VM, as text."""
        return self._prices.get(configuration)

    def offered(self, cluster: str) -> tuple[str, ...]:
        """Return the names of the configurations in this cluster, sorted; empty if they are not known."""
        return self._offered.of(cluster)

    def clusters_of(self, configuration: str) -> tuple[str, ...]:
        """Return the clusters in which a configuration is offered, sorted; empty if none is known."""
        return self._clusters.get(configuration, ())

    def name_of(self, word: str) -> str | None:
        """Return the name of the configuration that a VM's record names, by its name or its number."""
        return self._names.get(word)

    def refresh(self) -> None:
        """Start a refresh in the background if the last one is an hour old, and none is running."""
        running = self._task is not None and not self._task.done()
        if self._is_due and not running:
            self._ask_at = self._clock.mono() + REFRESH_SECONDS
            self._task = self._tasks.spawn("catalogue", self._refresh, may_end=True, restart=False)

    async def learn(self) -> None:
        """Ask for prices now, unless they were learned within the last hour. A failure leaves them as they were."""
        if self._is_due or not self._prices:
            with suppress(CloudError):
                await self.configurations()

    async def configurations(self) -> Listing[ConfigurationRecord]:
        """List the configurations now, and take over their prices.

        Raises:
            CloudError: they cannot be listed.
        """
        listing, known = await self._client.get_configurations(), self._prices
        self._prices, self._offered, self._names = prices(listing.items), offered(listing.items), names(listing.items)
        self._clusters = clusters(listing.items)
        self._ask_at = self._clock.mono() + REFRESH_SECONDS
        if self._prices.keys() - known.keys():
            self._learned()
        return listing

    async def aclose(self) -> None:
        """Stop a running refresh."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def _is_due(self) -> bool:
        return self._ask_at is None or self._clock.mono() >= self._ask_at

    async def _refresh(self) -> None:
        while True:
            try:
                await self.configurations()
            except CloudError as error:
                log.info("no prices: the configurations cannot be listed", error=str(error), host=self._host)
                await asyncio.sleep(RETRY_SECONDS)
            except Exception:
                self._ask_at = self._clock.mono() + RETRY_SECONDS
                raise
            else:
                return
