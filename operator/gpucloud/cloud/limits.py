"""How fast and how often to send: the request budget, and the pure rules for waiting and trying again.

Knows nothing of HTTP but the Retry-After header; reads no wall clock (the event loop's time only).
"""

import asyncio
import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from gpucloud.cloud.errors import CloudError, ErrorKind, LoginError

LONGEST_PAUSE = 300.0
LONGEST_UNAVAILABLE_PAUSE = 10.0
_FIRST_BACKOFF = 0.5
_LONGEST_BACKOFF = 8.0
WORTH_REPEATING = frozenset(
    {ErrorKind.THROTTLED, ErrorKind.UNAVAILABLE, ErrorKind.SERVER, ErrorKind.OUTCOME_UNKNOWN, ErrorKind.NOT_SENT}
)


class TokenBucket:
    """A budget of ``qps`` requests a second with bursts of ``burst``, first come, first served.

    The lock is the queue: asyncio grants it in order, its holder alone waits for the next token, and a caller that
    gives up leaves the queue without having spent anything.
    """

    def __init__(self, qps: float, burst: int) -> None:
        self._qps = qps
        self._burst = float(burst)
        self._tokens = float(burst)
        self._filled_at: float | None = None
        self._paused_until = -math.inf
        self._lock = asyncio.Lock()

    async def acquire(self, give_up_at: float) -> None:
        """Wait for one token.

        Args:
            give_up_at: loop time after which the caller has no use for a token.

        Raises:
            CloudError: NOT_SENT with ``retry_after``, at once, when the cloud asked for a pause beyond that time.
        """
        async with self._lock:
            while (delay := self._delay(give_up_at)) > 0:  # noqa: ASYNC110 - a token comes with time, no event brings it
                await asyncio.sleep(delay)
            self._tokens -= 1

    @property
    def left(self) -> float:
        """How many requests could go out at once now; none during a pause. Loop time is read."""
        now = asyncio.get_running_loop().time()
        if now < self._paused_until:
            return 0.0
        gained = 0.0 if self._filled_at is None else (now - self._filled_at) * self._qps
        return max(0.0, min(self._burst, self._tokens + gained))

    def pause(self, seconds: float) -> None:
        """Let nothing out for that long, because the cloud said so. Pauses do not add up; the longest holds."""
        now = asyncio.get_running_loop().time()
        self._paused_until = max(self._paused_until, now + min(seconds, LONGEST_PAUSE))

    def _delay(self, give_up_at: float) -> float:
        now = asyncio.get_running_loop().time()
        if self._filled_at is not None:
            self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._qps)
        self._filled_at = now
        if self._paused_until > give_up_at:
            raise CloudError(
                ErrorKind.NOT_SENT,
                "the cloud asked all callers of this credential to wait; try again later",
                retry_after=self._paused_until - now,
            )
        missing = 1 - self._tokens
        refill = missing / self._qps if missing > 1e-9 else 0.0  # float dust must not buy another sleep
        return max(refill, self._paused_until - now)


def pause_for(status: int, retry_after: float | None) -> float:
    """Return for how many seconds an answer should slow every caller of the credential down.

    A 503 may concern one VM (no capacity), so it may not blind the whole account for long; a 429 speaks to everybody.
    """
    if retry_after is None or status not in {429, 503}:
        return 0.0
    return min(retry_after, LONGEST_PAUSE if status == 429 else LONGEST_UNAVAILABLE_PAUSE)


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Read a Retry-After header, seconds or HTTP date, as seconds from 0 to 300; None when absent or unreadable."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        moment = parse_http_date(value)
        seconds = math.nan if moment is None else (moment - now).total_seconds()
    return None if math.isnan(seconds) else min(max(seconds, 0.0), LONGEST_PAUSE)


def parse_http_date(value: str | None) -> datetime | None:
    """Read an HTTP date as an aware UTC time; None when absent or unreadable."""
    try:
        moment = parsedate_to_datetime(value or "")
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, IndexError, TypeError):  # what the standard parser raises for rubbish
        return None


def next_delay(error: CloudError, attempt: int, *, max_retries: int, remaining: float, jitter: float) -> float | None:
    """Decide whether a reading call is sent again, and after how many seconds; None means: give up.

    Args:
        error: how the attempt failed.
        attempt: its number, from 1.
        max_retries: how many attempts may follow the first.
        remaining: seconds left before the call's deadline.
        jitter: a random number from 0 to 1, so that many callers do not return together.
    """
    if attempt > max_retries or isinstance(error, LoginError) or error.kind not in WORTH_REPEATING:
        return None
    backoff = min(_LONGEST_BACKOFF, _FIRST_BACKOFF * 2 ** (attempt - 1)) * (0.5 + jitter / 2)
    delay = max(backoff, error.retry_after or 0.0)
    return delay if delay < remaining else None
