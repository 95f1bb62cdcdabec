"""Clients, locks and leases."""

from __future__ import annotations

import asyncio
import ctypes
import datetime
import math
import os
import threading
import weakref
from types import TracebackType
from typing import Any, Callable, Hashable, Union

from . import _library
from ._errors import BadNameError, BadOptionError, Error, TimedOutError, WouldSelfDeadlockError
from ._library import AcquireOptions
from ._wait import Stop, cancellable, in_thread, interruptible

Seconds = Union[int, float, datetime.timedelta]


def _to_ms(what: str, time: Seconds) -> int:
    seconds = time.total_seconds() if isinstance(time, datetime.timedelta) else time
    if math.isnan(seconds):
        raise BadOptionError(f"{what} is not a number; use seconds")
    return math.ceil(seconds * 1000) if seconds < 1e15 else _library.NEVER_MS


def _duration_ms(what: str, time: Seconds | None) -> int:
    if time is None:
        return 0  # the library's default
    ms = _to_ms(what, time)
    if ms <= 0:
        raise BadOptionError(f"{what} is {time}; it must be longer than 0 seconds")
    return ms


class Lease:
    """The proof of holding a lock. Leaving its with block releases it."""

    def __init__(self, handle: int, name: str) -> None:
        self._handle: int | None = handle
        self._free = weakref.finalize(self, _library.lease_free, handle)
        self._guard = threading.Lock()  # of the handle: a release must not overlap another call
        self.name = name  # of the lock
        self.owner: str = _library.lease_owner(handle).decode()  # the id of this holder

    @property
    def held(self) -> bool:
        """Whether the lock is held now. False before the store grants it to another client."""
        with self._guard:
            return bool(_library.lease_held(self._handle))

    @property
    def in_doubt(self) -> bool:
        """Whether the lease is lost or may soon be, because a renewal is overdue."""
        with self._guard:
            return bool(_library.lease_in_doubt(self._handle))

    @property
    def token(self) -> int:
        """The fencing token, which grows with each grant; 0 after the release."""
        with self._guard:
            token: int = _library.lease_token(self._handle)
            return token

    @property
    def remaining(self) -> float:
        """The seconds until the lease ends unless it is renewed; math.inf if it does not expire."""
        with self._guard:
            ms: int = _library.lease_remaining_ms(self._handle)
        return math.inf if ms == _library.NEVER_MS else ms / 1000

    def check(self) -> None:
        """Raises LostError, NotHeldError or ClosedError unless the lock is held."""
        with self._guard:
            _library.lease_check(self._handle)

    def extend(self, ttl: Seconds) -> None:
        """Makes the lease run for ttl seconds from now. Blocks until the store replies."""
        ms = _duration_ms("ttl", ttl)
        with self._guard:
            _library.lease_extend(self._handle, ms)

    def release(self) -> None:
        """Releases the lock, and raises LostError if it was lost before. Waits for the store."""
        with self._guard:
            handle, self._handle = self._handle, None
        try:
            _library.lease_release(handle)
        finally:
            if handle is not None:
                self._free()

    async def release_async(self) -> None:
        """As release(), without blocking the event loop."""
        await in_thread(self.release)

    def release_unnoticed(self) -> None:
        """Releases the lock without waiting for the store; a failure is logged."""
        with self._guard:
            self._handle = None
        self._free()

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        _end(self, error)

    async def __aenter__(self) -> Lease:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        await in_thread(lambda: _end(self, error))

    def __repr__(self) -> str:
        return f"<holdfast.Lease {self.name!r} token={self.token} held={self.held}>"


def _end(lease: Lease, error: BaseException | None) -> None:
    """The end of a with block. An exception of the block is not replaced by one of the release."""
    if lease._handle is None:
        return  # the block has released it
    try:
        lease.release()
    except Error:
        if error is None:
            raise


class Lock:
    """One lock of a client. May be shared by threads and tasks; each acquire has its own lease.

    A with block raises LostError at its end if the lock was lost meanwhile.
    """

    def __init__(self, client: Callable[[], Client], name: str, timeout: Seconds | None,
                 terms: dict[str, Any]) -> None:
        self._client = client
        self.name = name  # of the lock
        self.timeout = timeout  # the seconds that a with block waits; None: no limit
        self._terms = terms
        self._entered: dict[Hashable, Lease] = {}  # by thread or task
        _encoded(name)

    @property
    def client(self) -> Client:
        """The client of the lock. A lock of holdfast.lock() opens it here, which blocks."""
        return self._client()

    def acquire(self, timeout: Seconds | None = None) -> Lease:
        """Waits for the lock and returns the lease.

        timeout  the seconds to wait; 0: one attempt; None: as long as it takes
        Raises TimedOutError when the time has passed; StoreError, UsageError, ClosedError.
        """
        stop = Stop()
        return interruptible(lambda: self._acquire(timeout, stop), stop)

    def try_acquire(self, timeout: Seconds = 0) -> Lease | None:
        """As acquire(), but returns None when the lock is busy. Default: one attempt."""
        try:
            return self.acquire(timeout)
        except TimedOutError:
            return None

    async def acquire_async(self, timeout: Seconds | None = None) -> Lease:
        """As acquire(), without blocking the event loop. A cancellation gives the lock back."""
        stop = Stop()
        return await cancellable(lambda: self._acquire(timeout, stop), stop)

    async def try_acquire_async(self, timeout: Seconds = 0) -> Lease | None:
        """As try_acquire(), without blocking the event loop."""
        try:
            return await self.acquire_async(timeout)
        except TimedOutError:
            return None

    def _acquire(self, timeout: Seconds | None, stop: Stop) -> Lease:
        terms = AcquireOptions(size=ctypes.sizeof(AcquireOptions), stop=stop.handle, **self._terms)
        timeout_ms = None if timeout is None else max(_to_ms("timeout", timeout), 0)
        handle = _library.acquire(self.client._handle, _encoded(self.name), timeout_ms, terms)
        return Lease(handle, self.name)

    def _refuse_second(self, key: Hashable) -> None:
        if key in self._entered:
            raise WouldSelfDeadlockError(
                f"this thread or task is inside a with block of the lock {self.name!r} and would "
                "wait for itself; leave that block first"
            )

    def __enter__(self) -> Lease:
        key = threading.get_ident()
        self._refuse_second(key)
        lease = self._entered[key] = self.acquire(self.timeout)
        return lease

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        _end(self._entered.pop(threading.get_ident()), error)

    async def __aenter__(self) -> Lease:
        key = asyncio.current_task()
        self._refuse_second(key)
        lease = self._entered[key] = await self.acquire_async(self.timeout)
        return lease

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        lease = self._entered.pop(asyncio.current_task())
        await in_thread(lambda: _end(lease, error))


class Client:
    """A connection to one lock store.

    url        for example "redis://localhost" or "file:"; None: the variable HOLDFAST_URL
    password   default: that of the URL
    ttl        seconds that the store keeps a lease without a renewal; default: ?ttl= of the URL, 30
    grace      as ?grace= of the URL
    Raises BadUrlError, BadOptionError, UnsupportedError, UnavailableError, RefusedError.
    Blocks at most ?op-timeout= of the URL (default 5 s).
    """

    def __init__(self, url: str | None = None, *, password: str | None = None,
                 ttl: Seconds | None = None, grace: Seconds | None = None) -> None:
        options = _library.OpenOptions(
            size=ctypes.sizeof(_library.OpenOptions),
            password=None if password is None else password.encode(),
            ttl_ms=_duration_ms("ttl", ttl),
            grace_ms=0 if grace is None else _to_ms("grace", grace),
        )
        self._handle = _library.client_open(url, options)
        weakref.finalize(self, _library.client_free, self._handle)

    @property
    def url(self) -> str:
        """The URL without secrets."""
        url: str = _library.client_url(self._handle).decode()
        return url

    def lock(self, name: str, *, timeout: Seconds | None = None, ttl: Seconds | None = None,
             max_hold: Seconds | None = None, note: str = "", renew: bool | None = None) -> Lock:
        """A lock with one holder.

        timeout   the seconds that a with block waits before TimedOutError; default: no limit
        ttl       seconds that the store keeps a lease without a renewal; default: the client's
        max_hold  the longest time that one holder may have the lock; default: no limit
        note      shown in lists of holders, at most 256 bytes
        renew     False: only extend() renews the lease; None: ?renew= of the URL, else True
        """
        return Lock(lambda: self, name, timeout, _terms(_library.MUTEX, ttl, max_hold, note, renew))

    def shared_lock(self, name: str, *, timeout: Seconds | None = None, ttl: Seconds | None = None,
                    max_hold: Seconds | None = None, note: str = "",
                    renew: bool | None = None) -> Lock:
        """The readers' side of a lock with readers and writers. Arguments as for lock()."""
        terms = _terms(_library.SHARED, ttl, max_hold, note, renew)
        return Lock(lambda: self, name, timeout, terms)

    def exclusive_lock(self, name: str, *, timeout: Seconds | None = None,
                       ttl: Seconds | None = None, max_hold: Seconds | None = None, note: str = "",
                       renew: bool | None = None) -> Lock:
        """The writer's side of a lock with readers and writers. Arguments as for lock()."""
        terms = _terms(_library.EXCLUSIVE, ttl, max_hold, note, renew)
        return Lock(lambda: self, name, timeout, terms)

    def semaphore(self, name: str, total_permits: int, *, permits: int = 1,
                  timeout: Seconds | None = None, ttl: Seconds | None = None,
                  max_hold: Seconds | None = None, note: str = "",
                  renew: bool | None = None) -> Lock:
        """Acquires `permits` of the `total_permits` of a semaphore. Others as for lock()."""
        for what, number in (("total_permits", total_permits), ("permits", permits)):
            if not 1 <= number <= 1_000_000:
                raise BadOptionError(f"{what} is {number}; it must be 1 to 1,000,000")
        terms = _terms(_library.PERMIT, ttl, max_hold, note, renew)
        terms = {**terms, "permits": permits, "total_permits": total_permits}
        return Lock(lambda: self, name, timeout, terms)

    def is_held(self, name: str) -> bool:
        """Whether any holder has the lock now. Blocks until the store has replied."""
        return _library.is_held(self._handle, _encoded(name))

    def close(self) -> bool:
        """Ends every wait and every lease of this client, and releases their locks.

        Returns True when nothing of this client is left in the store. Blocks at most
        ?close-timeout= of the URL (default 2 s).
        """
        return bool(_library.client_close(self._handle))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<holdfast.Client {self.url!r}>"


def _encoded(name: str) -> bytes:
    """A zero byte would end the name early, so it is kept out here."""
    if "\0" in name:
        raise BadNameError(
            "the name of a lock contains a zero byte; use 1 to 512 bytes of UTF-8 without control "
            "characters"
        )
    return name.encode()


def _terms(mode: int, ttl: Seconds | None, max_hold: Seconds | None, note: str,
           renew: bool | None) -> dict[str, Any]:
    renewals = {
        None: _library.RENEW_DEFAULT,
        True: _library.RENEW_AUTOMATIC,
        False: _library.RENEW_MANUAL,
    }
    if "\0" in note:
        raise BadOptionError("the note contains a zero byte; leave out control characters")
    return {
        "mode": mode,
        "renew": renewals[renew],
        "ttl_ms": _duration_ms("ttl", ttl),
        "max_hold_ms": _duration_ms("max_hold", max_hold),
        "note": note.encode() or None,
    }


_clients: dict[tuple[int, str | None], Client] = {}
_clients_guard = threading.Lock()
os.register_at_fork(
    before=_clients_guard.acquire,
    after_in_parent=_clients_guard.release,
    after_in_child=_clients_guard.release,
)


def _client_of(url: str | None) -> Client:
    key = (os.getpid(), url)
    with _clients_guard:
        client = _clients.get(key)
    if client is None:
        opened = Client(url)  # may block, so without the guard
        with _clients_guard:
            client = _clients.setdefault(key, opened)
    return client


def lock(url: str | None, name: str, *, timeout: Seconds | None = None, ttl: Seconds | None = None,
         max_hold: Seconds | None = None, note: str = "", renew: bool | None = None) -> Lock:
    """A lock with one holder at the store of a URL, for a with or async with block.

    The first acquire opens a client. Locks with the same URL share the client, which stays open
    until the process ends. Arguments as for Client and Client.lock().
    """
    terms = _terms(_library.MUTEX, ttl, max_hold, note, renew)
    return Lock(lambda: _client_of(url), name, timeout, terms)
