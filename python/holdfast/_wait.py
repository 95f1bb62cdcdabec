"""How a call that waits is ended by an interrupt (Ctrl-C) or a cancellation of a task.

Python runs signal handlers in the main thread, and not while that thread is inside the library. So
the main thread and event loops leave the call to a thread of its own. A pool of threads would not
do: waits that fill it would keep the release that they wait for from running.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import weakref
from typing import Callable, Protocol, TypeVar

from . import _library


class Stop:
    """Ends the waits that were given its handle."""

    def __init__(self) -> None:
        self.handle: int = _library.stop_new()
        if not self.handle:
            raise MemoryError
        weakref.finalize(self, _library.stop_free, self.handle)

    def request(self) -> None:
        _library.stop_request(self.handle)


class Released(Protocol):
    def release_unnoticed(self) -> None: ...


Result = TypeVar("Result")
Held = TypeVar("Held", bound=Released)


def _give_back(done: concurrent.futures.Future[Held]) -> None:
    if done.exception() is None:
        done.result().release_unnoticed()


def _start(call: Callable[[], Result]) -> concurrent.futures.Future[Result]:
    result: concurrent.futures.Future[Result] = concurrent.futures.Future()

    def run() -> None:
        try:
            value = call()
        except BaseException as error:
            result.set_exception(error)
        else:
            result.set_result(value)

    threading.Thread(target=run, name="holdfast").start()
    return result


def interruptible(call: Callable[[], Held], stop: Stop) -> Held:
    """Returns what the call returns. An interrupt ends the wait and gives the lock back."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    result = _start(call)
    try:
        return result.result()
    except BaseException:
        if not result.done():
            stop.request()
            result.add_done_callback(_give_back)
            concurrent.futures.wait([result])
        raise


async def cancellable(call: Callable[[], Held], stop: Stop) -> Held:
    """The same for a task: its cancellation ends the wait and gives the lock back."""
    result = _start(call)
    waiting = asyncio.wrap_future(result)
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        stop.request()
        result.add_done_callback(_give_back)
        # The lock is free, or the place in the queue is given up, before the task goes on.
        await asyncio.wait([waiting])
        raise


async def in_thread(call: Callable[[], Result]) -> Result:
    """Runs a call that always ends soon; a cancellation takes effect after it."""
    waiting = asyncio.wrap_future(_start(call))
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        await asyncio.wait([waiting])
        raise
