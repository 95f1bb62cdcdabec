"""Distributed locks with fencing tokens, on Redis, ZooKeeper, MariaDB or a directory.

    import holdfast

    with holdfast.lock("redis://localhost", "nightly", timeout=5) as lease:
        write_report(lease.token)

``async with`` works the same in asyncio. ``Client`` has every kind of lock.

Times are seconds, as int, float or datetime.timedelta. All objects may be used by several threads.
The functions that wait release the interpreter lock, so other threads go on.

After fork() the child cannot use the parent's clients and leases: they raise ForkedError, and the
parent keeps its locks. ``lock()`` opens a client of the child's own.
"""

from ._client import Client, Lease, Lock, lock
from ._errors import (
    BadNameError,
    BadOptionError,
    BadUrlError,
    BusyError,
    CanceledError,
    ClosedError,
    Error,
    ExhaustedError,
    ForkedError,
    LeaseEndedError,
    LostError,
    MismatchError,
    NoQuorumError,
    NotHeldError,
    OutcomeUnknownError,
    RefusedError,
    StoreError,
    TimedOutError,
    UnavailableError,
    UnsupportedError,
    UsageError,
    WouldSelfDeadlockError,
)
from ._library import VERSION as __version__

__all__ = [
    "BadNameError",
    "BadOptionError",
    "BadUrlError",
    "BusyError",
    "CanceledError",
    "Client",
    "ClosedError",
    "Error",
    "ExhaustedError",
    "ForkedError",
    "Lease",
    "LeaseEndedError",
    "Lock",
    "LostError",
    "MismatchError",
    "NoQuorumError",
    "NotHeldError",
    "OutcomeUnknownError",
    "RefusedError",
    "StoreError",
    "TimedOutError",
    "UnavailableError",
    "UnsupportedError",
    "UsageError",
    "WouldSelfDeadlockError",
    "__version__",
    "lock",
]
