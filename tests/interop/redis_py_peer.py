"""redis-py's Lock, told what to do line by line: PORT. Answers each line with one.

acquire NAME TTL|-        waits at most 20 s: ok | busy
try NAME TTL|-            one attempt: ok | busy
release NAME              ok | not ours
extend NAME TTL           ok | not ours
held NAME                 yes | no
count NAME KEY TIMES      takes the lock TIMES times and adds one to KEY in two steps: ok
"""
import sys

import redis


def main():
    server = redis.Redis(port=int(sys.argv[1]))
    locks = {}

    def ttl(word):
        return None if word == "-" else float(word)

    def acquire(name, word, blocking):
        locks[name] = server.lock(name, timeout=ttl(word), sleep=0.002, blocking_timeout=20)
        return "ok" if locks[name].acquire(blocking=blocking) else "busy"

    def count(name, key, times):
        with_turns = server.lock(name, timeout=20, sleep=0.001)
        for _ in range(int(times)):
            with with_turns:
                server.set(key, int(server.get(key) or 0) + 1)
        return "ok"

    def owned(action):
        try:
            action()
            return "ok"
        except redis.exceptions.LockError:
            return "not ours"

    verbs = {
        "acquire": lambda name, word: acquire(name, word, True),
        "try": lambda name, word: acquire(name, word, False),
        "release": lambda name: owned(locks[name].release),
        "extend": lambda name, word: owned(lambda: locks[name].extend(float(word), True)),
        "held": lambda name: "yes" if locks[name].owned() else "no",
        "count": count,
    }
    for line in iter(sys.stdin.readline, ""):
        verb, *words = line.split()
        print(verbs[verb](*words), flush=True)


main()
