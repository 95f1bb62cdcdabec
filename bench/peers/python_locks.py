"""Locks for Python at the work of the benchmarks: LIBRARY PORT WORK SECONDS; prints cycles per
second.

LIBRARY is redis-py or kazoo.
"""
import multiprocessing
import sys
import threading
import time


# A worker of redis-py has a connection and a lock object: one cannot be shared while it is held.
# Its default of 0.1 s between two attempts is what its users run with.
def redis_py_locks(port, names):
    import redis

    return [redis.Redis(port=port).lock(name, timeout=30) for name in names], lambda: None


# The threads of a process share a session, as its documents advise.
def kazoo_locks(port, names):
    from kazoo.client import KazooClient

    client = KazooClient(hosts="127.0.0.1:%d" % port)
    client.start()
    return [client.Lock("/" + name.replace("/", "-")) for name in names], client.stop


MAKERS = {"redis-py": redis_py_locks, "kazoo": kazoo_locks}


def worker(lock, window, counts, index):
    done = 0
    while time.monotonic() < window[1]:
        with lock:
            began = time.monotonic()
        if window[0] <= began:
            done += 1
    counts[index] = done


def process(library, port, names, connected, window, counts, first):
    locks, close = MAKERS[library](port, names)
    connected.wait()
    connected.wait()  # until the window is set
    threads = [
        threading.Thread(target=worker, args=(lock, window, counts, first + i))
        for i, lock in enumerate(locks)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    close()


def main():
    library, port, work, length = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
    contenders = {
        "own-lock": [["peer"]],
        "own-locks": [["peer/%d" % i for i in range(64)]],
        "one-lock": [["peer"] * 4] * 4,
    }[work]
    counts = multiprocessing.Array("Q", sum(len(names) for names in contenders), lock=False)
    window = multiprocessing.Array("d", 2, lock=False)
    connected = multiprocessing.Barrier(len(contenders) + 1)
    processes, first = [], 0
    for names in contenders:
        terms = (library, port, names, connected, window, counts, first)
        processes.append(multiprocessing.Process(target=process, args=terms))
        processes[-1].start()
        first += len(names)
    connected.wait()
    window[0] = time.monotonic()
    window[1] = window[0] + length
    connected.wait()
    for p in processes:
        p.join()
        if p.exitcode:
            sys.exit(p.exitcode)
    print(sum(counts) / length)


main()
