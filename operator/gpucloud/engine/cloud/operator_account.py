"""The operator's own account: opens its session, and reopens it when the credential's files change."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from gpucloud.engine.cloud.accounts import Account
from gpucloud.engine.cloud.configuration import credential
from gpucloud.flags import read_credentials
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.settings import Credentials, SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.cloud.accounts import Accounts, AccountSessions
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.settings import Settings

log = structlog.get_logger("gpucloud.engine")

INTERVAL_SECONDS = 30.0  # between two reads of the credential's files


class OwnAccount:
    """Keeps the session of the operator's own credential."""

    def __init__(
        self, settings: Settings, accounts: Accounts, sessions: AccountSessions, clock: Clock, changed: Callable[[], None]
    ) -> None:
        """``changed`` wakes the objects that may use the operator's own account."""
        self._settings = settings
        self._accounts = accounts
        self._sessions = sessions
        self._clock = clock
        self._changed = changed

    def use(self, credentials: Credentials) -> None:
        """Open a session with these credentials. Empty credentials leave the current session in use."""
        found, before = credential(credentials), self._accounts.own
        if found is None:
            return
        session = self._sessions.open(self._settings.own_endpoint, found, OWN_ACCOUNT)
        if before is not None and before.session is session:
            return
        self._accounts.own = Account(OWN_ACCOUNT, session, since=self._clock.mono(), endpoint=self._settings.own_endpoint_name)
        if before is not None and before.session is not None:
            self._sessions.leave(before.session, OWN_ACCOUNT)
            log.info("the operator's own credential has changed")
        self._changed()

    async def follow(self) -> None:
        """Reread the credential's files until cancelled, so that a mounted Secret is rotated without a restart."""
        known = self._settings.credentials
        while True:
            await asyncio.sleep(INTERVAL_SECONDS)
            try:
                found = read_credentials()
                if found not in (known, Credentials()):
                    self.use(found)
                    known = found
            except SettingsError as error:
                log.warning("the operator's own credential cannot be used; the last one stays in use", error=str(error))
