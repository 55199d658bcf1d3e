"""What each part of the engine takes of the settings."""

from __future__ import annotations

from gpucloud.cloud.options import ApiKey, ClientOptions, Login
from gpucloud.engine.cloud.inventory import Intervals
from gpucloud.kinds.gpucloudaccount import RequestBudget
from gpucloud.reconcile.facts import Limits
from gpucloud.settings import Credentials, Settings, SettingsError


def limits(settings: Settings) -> Limits:
    """The settings that decisions depend on."""
    return Limits(
        grace=settings.create_grace_seconds,
        blind_after=max(settings.blind_after_seconds, 3 * settings.poll_steady_seconds),
        pending_interval=settings.poll_pending_seconds,
        observe_only=settings.observe_only,
    )


def intervals(settings: Settings) -> Intervals:
    """How often is listed."""
    return Intervals(settings.poll_pending_seconds, settings.poll_steady_seconds)


def budget(settings: Settings) -> RequestBudget:
    """How many requests one credential may cost, as an account shows it."""
    return RequestBudget(requests_per_second=f"{settings.cloud_qps:g}", burst=settings.cloud_burst)


def credential(found: Credentials) -> ApiKey | Login | None:
    """What the client needs of the operator's own account; None when it has none.

    Raises:
        SettingsError: the key cannot be sent in a header.
    """
    if found.api_key:
        try:
            return ApiKey(found.api_key)
        except ValueError as error:
            raise SettingsError(f"GPUCLOUD_API_KEY: {error}") from None
    return Login(found.username, found.password) if found.username and found.password else None


def client_options(settings: Settings) -> ClientOptions:
    """How every client behaves."""
    return ClientOptions(
        qps=settings.cloud_qps,
        burst=settings.cloud_burst,
        total_deadline_seconds=settings.cloud_timeout_seconds,
        ca_file=settings.ca_file or None,
        proxy=settings.proxy or None,
    )
