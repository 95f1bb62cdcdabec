"""redis-py's Lock at the work of the benchmarks: PORT WORK SECONDS; prints cycles per second."""
import multiprocessing
import sys
import threading
import time

import redis


def worker(port, name, until, counts, index):
    # Its default of 0.1 s between two looks is what its users run with.
    lock = redis.Redis(port=port).lock(name, timeout=30)
    done = 0
    while time.monotonic() < until:
        with lock:
            done += 1
    counts[index] = done


def process(port, names, until, counts, first):
    # A lock object and a connection for each worker: one cannot be shared while it is held.
    threads = [
        threading.Thread(target=worker, args=(port, name, until, counts, first + i))
        for i, name in enumerate(names)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    port, work, length = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    contenders = {
        "own-lock": [["peer"]],
        "own-locks": [["peer/%d" % i for i in range(64)]],
        "one-lock": [["peer"] * 4] * 4,
    }[work]
    counts = multiprocessing.Array("Q", sum(len(names) for names in contenders), lock=False)
    until = time.monotonic() + length
    processes, first = [], 0
    for names in contenders:
        processes.append(
            multiprocessing.Process(target=process, args=(port, names, until, counts, first))
        )
        first += len(names)
    for p in processes:
        p.start()
    for p in processes:
        p.join()
    print(sum(counts) / length)


main()
