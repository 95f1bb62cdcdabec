"""The real kazoo, driven by the commands of ../java/CommandLoop.java.

open HOST:PORT,... [SESSION_MS]   comes first: the id of its session, in hex
close                             closes the session
kill                              ends the session at the server, as its expiry would
session                           the id of the session that it has now
asleep THREAD                     whether that thread waits for its turn, not for a reply
version                           of kazoo
children PATH                     of a node, in the order of their names; `-`: there is none
data PATH
set PATH DATA
create PATH PERSISTENT DATA

VERB TYPE PATH ...: a thread has one lock object for each type and path. TYPE is lock, read, write
or, with the number of permits, semaphore:N; names of foreign nodes that count as well follow as
`lock+NAME+NAME`. `curator` is a lock whose own nodes are named as Curator's are.

lock TYPE PATH                    waits
try TYPE PATH MS                  True | False
unlock TYPE PATH                  True | False
held TYPE PATH                    what it believes: True | False
contenders TYPE PATH              their identifiers, in order
count TYPE PATH NODE TIMES        takes the lock TIMES times and adds one to NODE in two steps
"""
import queue
import sys
import threading
import time

import kazoo.version
from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout, NoNodeError
from kazoo.recipe.lock import Lock, ReadLock, Semaphore, WriteLock


class CuratorLock(Lock):
    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


CLASSES = {"lock": Lock, "read": ReadLock, "write": WriteLock, "curator": CuratorLock}


def session_of(client):
    return hex(client.client_id[0] & (2**64 - 1))


class Client:
    def __init__(self, hosts, session_ms="10000"):
        self.hosts = hosts
        self.timeout = int(session_ms) / 1000
        self.kazoo = KazooClient(hosts=hosts, timeout=self.timeout)
        self.kazoo.start()
        self.locks = {}

    def kill(self):
        other = KazooClient(hosts=self.hosts, timeout=self.timeout, client_id=self.kazoo.client_id)
        other.start()
        other.stop()

    def lock(self, thread, kind, path):
        key = (thread, kind, path)
        if key not in self.locks:
            name, *patterns = kind.split("+")
            if name.startswith("semaphore:"):
                made = Semaphore(self.kazoo, path, thread, int(name[10:]))
            else:
                made = CLASSES[name](self.kazoo, path, thread, patterns)
            self.locks[key] = made
        return self.locks[key]

    def count(self, lock, node, times):
        for _ in range(int(times)):
            with lock:
                before = int(self.kazoo.get(node)[0])
                self.kazoo.set(node, str(before + 1).encode())

    def children(self, path):
        try:
            return " ".join(sorted(self.kazoo.get_children(path)))
        except NoNodeError:
            return "-"

    def perform(self, thread, verb, words):
        if verb == "close":
            self.kazoo.stop()
            self.kazoo.close()
            return ""
        if verb == "kill":
            return self.kill()
        if verb == "session":
            return session_of(self.kazoo)
        if verb == "children":
            return self.children(words[0])
        if verb == "data":
            return self.kazoo.get(words[0])[0].decode()
        if verb == "set":
            self.kazoo.set(words[0], words[1].encode())
            return ""
        if verb == "create":
            return self.kazoo.create(words[0], words[2].encode())
        lock = self.lock(thread, *words[:2])
        if verb == "lock":
            lock.acquire()
            return ""
        if verb == "try":
            return attempt(lock, int(words[2]))
        if verb == "unlock":
            return lock.release()
        if verb == "held":
            return lock.is_acquired
        if verb == "contenders":
            found = lock.lease_holders() if isinstance(lock, Semaphore) else lock.contenders()
            return " ".join(found)
        if verb == "count":
            return self.count(lock, *words[2:])
        raise ValueError("there is no verb " + verb)


def attempt(lock, milliseconds):
    if milliseconds == 0:
        return lock.acquire(blocking=False)
    try:
        return lock.acquire(timeout=milliseconds / 1000)
    except LockTimeout:
        return False


clients = {}
threads = {}
queues = {}


def is_asleep(thread):
    frame = sys._current_frames()[thread.ident]
    while frame.f_code.co_filename == threading.__file__:
        frame = frame.f_back
    return frame.f_code.co_filename.endswith("kazoo/recipe/lock.py")


def perform(client, thread, verb, words):
    if verb == "version":
        return kazoo.version.__version__
    if verb == "open":
        clients[client] = Client(*words)
        return session_of(clients[client].kazoo)
    if verb == "asleep":
        return is_asleep(threads[client, words[0]])
    return clients[client].perform(thread, verb, words)


writing = threading.Lock()


def work(client, thread):
    while True:
        number, verb, words = queues[client, thread].get()
        try:
            result = perform(client, thread, verb, words)
            text = "ok " + ("" if result is None else str(result))
        except Exception as e:
            text = "failed %s: %s" % (type(e).__name__, e)
        ended = time.monotonic_ns()
        with writing:
            print(number, ended, text.replace("\n", " "), flush=True)


def main():
    for line in iter(sys.stdin.readline, ""):
        number, client, thread, verb, *words = line.split()
        key = (client, thread)
        if key not in queues:
            queues[key] = queue.Queue()
            threads[key] = threading.Thread(target=work, args=key, daemon=True)
            threads[key].start()
        queues[key].put((number, verb, words))


main()
