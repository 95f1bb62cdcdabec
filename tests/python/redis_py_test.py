#!/usr/bin/python3 -B
"""Locks of the Python package and of redis-py with the same names exclude each other."""

import sys
import threading

try:
    import redis
except ImportError:
    print("skipped: python3-redis is not installed")
    sys.exit(77)

from fixture import LONGEST, URL, StoreTest, run, until


class RedisPy(StoreTest):
    def setUp(self):
        super().setUp()
        self.server = redis.Redis.from_url(URL)
        self.addCleanup(self.server.close)

    def theirs(self, timeout=LONGEST):
        return self.server.lock(self.name(), timeout=timeout, sleep=0.002, thread_local=False)

    def ours(self):
        return self.client.lock(self.name())

    def test_holds_and_ours_waits(self):
        theirs = self.theirs()
        self.assertTrue(theirs.acquire(blocking=False))
        self.assertIsNone(self.ours().try_acquire())
        self.assertTrue(self.client.is_held(self.name()))
        got = []
        waiter = threading.Thread(target=lambda: got.append(self.ours().acquire(LONGEST)))
        waiter.start()
        self.assertTrue(theirs.owned())
        theirs.release()
        waiter.join()
        self.assertTrue(got[0].held)
        self.assertFalse(self.theirs().acquire(blocking=False))
        got[0].release()

    def test_waits_while_ours_holds(self):
        held = self.ours().acquire()
        theirs = self.theirs()
        self.assertFalse(theirs.acquire(blocking=False))
        waiter = threading.Thread(target=lambda: theirs.acquire(blocking_timeout=LONGEST))
        waiter.start()
        self.assertTrue(held.held)
        held.release()
        waiter.join()
        self.assertTrue(theirs.owned())
        self.assertIsNone(self.ours().try_acquire())
        theirs.release()
        self.assert_free()

    def test_that_is_late_does_not_release_ours(self):
        theirs = self.theirs(timeout=0.05)
        self.assertTrue(theirs.acquire(blocking=False))
        with self.ours() as lease:
            with self.assertRaises(redis.exceptions.LockError):
                theirs.release()
            self.assertTrue(lease.held)

    def test_takes_over_from_ours_that_is_lost(self):
        lost = self.client.lock(self.name(), ttl=0.1, renew=False).acquire()
        theirs = self.theirs()
        self.assertTrue(theirs.acquire(blocking_timeout=LONGEST))
        self.assertTrue(until(lambda: not lost.held))
        lost.release_unnoticed()
        self.assertTrue(theirs.owned())
        theirs.release()

    def test_and_ours_lose_no_update(self):
        key, rounds = self.name() + ":count", 30

        def count(lock):
            for _ in range(rounds):
                with lock():
                    self.server.set(key, int(self.server.get(key) or 0) + 1)

        kinds = [self.theirs, self.theirs, self.ours, self.ours]
        workers = [threading.Thread(target=count, args=[kind]) for kind in kinds]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(int(self.server.get(key)), rounds * len(kinds))


if __name__ == "__main__":
    run()
