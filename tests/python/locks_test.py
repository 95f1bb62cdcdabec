#!/usr/bin/python3 -B
"""Locks of the Python package on one store: threads, interrupts, losses, fork()."""

import math
import os
import signal
import sys
import threading

from fixture import BACKEND, LONGEST, URL, StoreTest, holdfast, run, until


class Locks(StoreTest):
    def test_a_with_block_holds_the_lock(self):
        with self.client.lock(self.name()) as lease:
            self.assertTrue(lease.held)
            self.assertFalse(lease.in_doubt)
            self.assertGreater(lease.remaining, 0)
            lease.check()
            self.assertEqual(lease.name, self.name())
            self.assertTrue(self.client.is_held(self.name()))
            self.assertIsNone(self.other.lock(self.name()).try_acquire())
        self.assertFalse(lease.held)
        self.assertEqual((lease.token, lease.remaining), (0, 0))
        with self.assertRaises(holdfast.NotHeldError):
            lease.check()
        self.assert_free()

    def test_tokens_grow(self):
        tokens = []
        for client in (self.client, self.other) * 2:
            with client.lock(self.name()) as lease:
                tokens.append(lease.token)
        self.assertEqual(tokens, sorted(set(tokens)))
        self.assertGreater(tokens[0], 0)

    def test_lock_opens_one_client_for_each_url(self):
        first, second = (holdfast.lock(URL, self.name()) for _ in range(2))
        with first:
            with self.assertRaises(holdfast.TimedOutError):
                second.acquire(timeout=0)
        self.assertIs(first.client, second.client)

    def test_a_busy_lock_times_out(self):
        with self.client.lock(self.name()):
            with self.assertRaises(TimeoutError) as caught:
                with self.other.lock(self.name(), timeout=0.01):
                    self.fail("two clients hold the lock")
            self.assertIsInstance(caught.exception, holdfast.BusyError)
            self.assertIn(self.name(), str(caught.exception))

    def test_a_waiting_thread_does_not_stop_others(self):
        held = self.client.lock(self.name()).acquire()
        got = []
        waiter = threading.Thread(
            target=lambda: got.append(self.other.lock(self.name()).acquire(timeout=LONGEST)))
        waiter.start()
        for _ in range(1000):  # this thread runs on
            self.assertTrue(held.held)
        self.assertEqual(got, [])
        held.release()
        waiter.join()
        self.assertTrue(got[0].held)
        got[0].release()  # by another thread than the one that acquired it

    def test_an_interrupt_ends_the_wait_of_the_main_thread(self):
        held = self.client.lock(self.name()).acquire()
        interrupt = threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGINT))
        with self.assertRaises(KeyboardInterrupt):
            interrupt.start()
            self.other.lock(self.name()).acquire(timeout=LONGEST)
        held.release()
        self.client.lock(self.name()).acquire(timeout=LONGEST).release()  # it no longer waits

    def test_a_second_with_block_of_a_thread_is_refused(self):
        lock = self.client.lock(self.name())
        with lock:
            with self.assertRaises(holdfast.WouldSelfDeadlockError):
                lock.__enter__()
        self.assert_free()

    def test_threads_lose_no_update(self):
        count = [0]

        def work(client):
            lock = client.lock(self.name())
            for _ in range(20):
                with lock:
                    seen = count[0]
                    os.sched_yield()
                    count[0] = seen + 1

        workers = [threading.Thread(target=work, args=[c]) for c in [self.client, self.other] * 3]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(count, [120])

    def test_an_exception_of_the_block_releases_and_passes(self):
        with self.assertRaises(ZeroDivisionError):
            with self.client.lock(self.name()):
                1 / 0
        self.assert_free()

    def test_a_lease_that_nothing_refers_to_is_released(self):
        self.client.lock(self.name()).acquire()
        self.assert_free()

    def test_a_closed_client_ends_its_leases(self):
        client = holdfast.Client(URL)
        with self.assertRaises(holdfast.ClosedError):
            with client.lock(self.name()) as lease:
                self.assertTrue(client.close())
                self.assertFalse(lease.held)
        with self.assertRaises(holdfast.ClosedError):
            client.lock(self.name()).acquire()
        self.assert_free()

    def test_a_lost_lock_is_reported_at_the_end_of_the_block(self):
        if BACKEND not in ("memory", "redis"):
            self.skipTest("needs leases that end without a renewal")
        with self.assertRaises(holdfast.LostError):
            with self.client.lock(self.name(), ttl=0.1, renew=False) as lease:
                self.assertTrue(until(lambda: not lease.held))
        with self.assertRaises(ZeroDivisionError):  # which tells more than the loss
            with self.client.lock(self.name(), ttl=0.1, renew=False) as lease:
                self.assertTrue(until(lambda: not lease.held))
                1 / 0
        with self.client.lock(self.name(), ttl=20, renew=False) as lease:
            lease.extend(100)
            self.assertGreater(lease.remaining, 50)

    def test_readers_share_and_exclude_a_writer(self):
        try:
            read = self.client.shared_lock(self.name())
            write = self.other.exclusive_lock(self.name())
            one = read.acquire(timeout=LONGEST)
        except holdfast.UnsupportedError as error:
            self.skipTest(str(error))
        with read:
            self.assertIsNone(write.try_acquire())
        one.release()
        with write:
            self.assertIsNone(read.try_acquire())

    def test_permits_divide_the_total(self):
        try:
            two = self.client.semaphore(self.name(), 3, permits=2).acquire(timeout=LONGEST)
        except holdfast.UnsupportedError as error:
            self.skipTest(str(error))
        with two, self.other.semaphore(self.name(), 3):
            self.assertIsNone(self.other.semaphore(self.name(), 3).try_acquire())

    def test_a_child_of_fork_leaves_the_lock_to_its_parent(self):
        with self.client.lock(self.name()) as lease, holdfast.lock(URL, "shared client"):
            child = os.fork()
            if child == 0:
                try:
                    os._exit(self.result_in_child(lease))
                except BaseException as error:
                    print(repr(error), file=sys.stderr)
                finally:
                    os._exit(99)
            _, status = os.waitpid(child, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), 0)
            self.assertTrue(lease.held)

    def result_in_child(self, lease):
        if lease.held or not lease.in_doubt:
            return 1
        for call in (lease.check, lease.release, self.client.lock(self.name()).acquire):
            try:
                call()
                return 2
            except holdfast.ForkedError:
                pass
        if BACKEND == "memory":  # a store of its own in each process
            return 0
        return 0 if holdfast.lock(URL, self.name()).try_acquire() is None else 3


class Arguments(StoreTest):
    def test_errors_name_what_is_wrong(self):
        for error, call in (
            (holdfast.BadUrlError, lambda: holdfast.Client("nothing://x")),
            (holdfast.BadOptionError, lambda: holdfast.Client(URL, ttl=0)),
            (holdfast.BadOptionError, lambda: holdfast.Client(URL, ttl=0.001)),
            (holdfast.BadNameError, lambda: self.client.lock("a\nb").acquire()),
            (holdfast.BadNameError, lambda: self.client.lock("a\0b")),
            (holdfast.BadNameError, lambda: self.client.lock("")  .acquire()),
            (holdfast.BadOptionError, lambda: self.client.lock("x", ttl=-1)),
            (holdfast.BadOptionError, lambda: self.client.lock("x", max_hold=0)),
            (holdfast.BadOptionError, lambda: self.client.lock("x", note="a\0b")),
            (holdfast.BadOptionError, lambda: self.client.lock("x").acquire(timeout=math.nan)),
            (holdfast.BadOptionError, lambda: self.client.semaphore("x", 0)),
            (holdfast.BadOptionError, lambda: self.client.semaphore("x", 2, permits=-1)),
        ):
            with self.subTest(error.__name__), self.assertRaises(error) as caught:
                call()
            self.assertIsInstance(caught.exception, ValueError)
            self.assertTrue(str(caught.exception))

    def test_an_endless_timeout_is_accepted(self):
        self.client.lock(self.name()).acquire(timeout=math.inf).release()


if __name__ == "__main__":
    run()
