"""Converts settings into the options of the engine's parts."""

from __future__ import annotations

from gpucloud.cloud.options import ApiKey, ClientOptions, Login
from gpucloud.engine.cloud.listing_spacing import Intervals
from gpucloud.kinds.gpucloudaccount import RequestBudget
from gpucloud.reconcile.facts import Limits
from gpucloud.settings import Credentials, Settings, SettingsError


def limits(settings: Settings) -> Limits:
    """Return the limits that the pure core's decisions use."""
    return Limits(
        grace=settings.create_grace_seconds,
        blind_after=max(settings.blind_after_seconds, 3 * settings.poll_steady_seconds),
        pending_interval=settings.poll_pending_seconds,
        observe_only=settings.observe_only,
        boot_log_after=settings.boot_log_seconds,
    )


def intervals(settings: Settings) -> Intervals:
    """Return the seconds between listings."""
    return Intervals(settings.poll_pending_seconds, settings.poll_steady_seconds)


def budget(settings: Settings) -> RequestBudget:
    """Return the request budget of one credential, as GpuCloudAccount.status shows it."""
    return RequestBudget(requests_per_second=f"{settings.cloud_qps:g}", burst=settings.cloud_burst)


def credential(found: Credentials) -> ApiKey | Login | None:
    """Return the credential of the operator's own account; None if it has none.

    Raises:
        SettingsError: the API key cannot be sent in an HTTP header.
    """
    if found.api_key:
        try:
            return ApiKey(found.api_key.get_secret_value())
        except ValueError as error:
            words = "the key of GPUCLOUD_API_KEY, or in the file of GPUCLOUD_API_KEY_FILE, cannot be used"
            raise SettingsError(f"{words}: {error}. Copy the key from the dashboard again") from None
    if found.username and found.password:
        return Login(found.username.get_secret_value(), found.password.get_secret_value())
    return None


def client_options(settings: Settings) -> ClientOptions:
    """Return the options of every cloud client."""
    return ClientOptions(
        qps=settings.cloud_qps,
        burst=settings.cloud_burst,
        total_deadline_seconds=settings.cloud_timeout_seconds,
        ca_file=settings.ca_file or None,
        proxy=settings.proxy or None,
    )
