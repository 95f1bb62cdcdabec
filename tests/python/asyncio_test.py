#!/usr/bin/python3 -B
"""Locks of the Python package in asyncio: cancellation, and event loops that stay responsive."""

import asyncio
import random
import unittest

from fixture import LONGEST, URL, holdfast, run


class Tasks(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.client = holdfast.Client(URL)
        self.addCleanup(self.client.close)

    def lock(self, **terms):
        return self.client.lock(self.id().rsplit(".", 1)[1], **terms)

    async def assert_free(self):
        await (await self.lock().acquire_async(timeout=LONGEST)).release_async()

    async def test_async_with_holds_the_lock(self):
        async with self.lock() as lease:
            self.assertTrue(lease.held)
            self.assertIsNone(await self.lock().try_acquire_async())
        self.assertFalse(lease.held)
        async with holdfast.lock(URL, "opens its client") as lease:
            self.assertTrue(lease.held)
        async with await self.lock().acquire_async() as lease:
            self.assertTrue(lease.held)
        await self.assert_free()

    async def test_tasks_exclude_each_other(self):
        lock, count = self.lock(), [0]

        async def work():
            for _ in range(10):
                async with lock:
                    seen = count[0]
                    await asyncio.sleep(0)
                    count[0] = seen + 1

        await asyncio.gather(*(work() for _ in range(8)))
        self.assertEqual(count, [80])

    async def test_a_second_block_of_a_task_is_refused(self):
        lock = self.lock()
        async with lock:
            with self.assertRaises(holdfast.WouldSelfDeadlockError):
                await lock.__aenter__()

    async def test_a_timeout_ends_the_wait(self):
        async with self.lock():
            with self.assertRaises(holdfast.TimedOutError):
                async with self.lock(timeout=0.01):
                    self.fail("two tasks hold the lock")
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(self.lock().acquire_async(), 0.01)
        await self.assert_free()

    async def test_many_waits_leave_the_loop_and_the_release_running(self):
        held = await self.lock().acquire_async()
        waits = [asyncio.create_task(self.use_once()) for _ in range(50)]
        for _ in range(100):
            await asyncio.sleep(0)
        self.assertFalse(any(wait.done() for wait in waits))
        await held.release_async()
        await asyncio.wait_for(asyncio.gather(*waits), LONGEST)

    async def use_once(self):
        async with self.lock(timeout=LONGEST):
            pass

    async def test_a_cancelled_wait_gives_its_place_back(self):
        held = await self.lock().acquire_async()
        wait = asyncio.create_task(self.lock().acquire_async())
        await asyncio.sleep(0)
        wait.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await wait
        await held.release_async()
        await self.assert_free()

    async def test_a_cancellation_while_the_lock_is_granted_gives_it_back(self):
        seeded = random.Random(1)
        for _ in range(30):
            held = await self.lock().acquire_async(timeout=LONGEST)
            wait = asyncio.create_task(self.lock().acquire_async())
            release = asyncio.create_task(held.release_async())
            for _ in range(seeded.randrange(40)):
                await asyncio.sleep(0)
            wait.cancel()
            await release
            try:
                (await wait).release_unnoticed()  # it had ended before
            except asyncio.CancelledError:
                pass
            await self.assert_free()

    async def test_a_cancelled_block_releases_the_lock(self):
        entered = asyncio.Event()

        async def work():
            async with self.lock():
                entered.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await asyncio.wait_for(entered.wait(), LONGEST)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        await self.assert_free()

    async def test_an_error_of_the_store_reaches_the_task(self):
        with self.assertRaises(holdfast.BadNameError):
            await self.client.lock("a\nb").acquire_async()


if __name__ == "__main__":
    run()
