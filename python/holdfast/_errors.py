"""The exceptions: one for each code of the library, below one for each group of codes."""

from __future__ import annotations


class Error(Exception):
    """A failure of holdfast. Its text names the lock, the store, the reason and the remedy."""

    code = ""  # the name of the code, as in holdfast::errc


class BusyError(Error):
    """Another holder has the lock."""


class StoreError(Error):
    """The store cannot grant or confirm."""


class LeaseEndedError(Error):
    """The lease, or the client, has ended. Acquire again, and repeat the work."""


class UsageError(Error):
    """The program or its configuration is wrong."""


class TimedOutError(BusyError, TimeoutError):
    """The lock was busy until the timeout had passed."""

    code = "timed_out"


class CanceledError(BusyError):
    """The wait was ended."""

    code = "canceled"


class UnavailableError(StoreError):
    """The store is out of reach, or no thread can be started."""

    code = "unavailable"


class NoQuorumError(StoreError):
    """Redlock: too few servers can be reached, or may vote."""

    code = "no_quorum"


class OutcomeUnknownError(StoreError):
    """No reply shows whether a request took effect."""

    code = "outcome_unknown"


class RefusedError(StoreError):
    """The server or the file system denied it."""

    code = "refused"


class ExhaustedError(StoreError):
    """A range of numbers of the store is used up."""

    code = "exhausted"


class LostError(LeaseEndedError):
    """The lease expired or was taken away: the work may have overlapped another holder."""

    code = "lost"


class NotHeldError(LeaseEndedError):
    """The lease was released."""

    code = "not_held"


class ForkedError(LeaseEndedError):
    """The object was made before fork(), and this is the child."""

    code = "forked"


class ClosedError(LeaseEndedError):
    """The client was closed."""

    code = "closed"


class WouldSelfDeadlockError(UsageError):
    """The thread or task is inside a with block of this lock, and would wait for itself."""

    code = "would_self_deadlock"


class UnsupportedError(UsageError):
    """The store, the layout or this build cannot do it."""

    code = "unsupported"


class MismatchError(UsageError):
    """The name is in use for another kind of lock or another number of permits."""

    code = "mismatch"


class BadUrlError(UsageError, ValueError):
    """The URL is malformed."""

    code = "bad_url"


class BadNameError(UsageError, ValueError):
    """The name of the lock is malformed."""

    code = "bad_name"


class BadOptionError(UsageError, ValueError):
    """An option is unknown or out of range."""

    code = "bad_option"


def _with_code(base: type[Error]) -> dict[str, type[Error]]:
    found = {base.code: base} if base.code else {}
    for derived in base.__subclasses__():
        found.update(_with_code(derived))
    return found


CLASS_OF_CODE = _with_code(Error)
