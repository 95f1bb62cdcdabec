#!/usr/bin/env python3
"""Counts the functions that one lock() + unlock() over Redis calls, uncontended.

usage: count.py PROGRAM [--each]

PROGRAM is holdfast_cycles of a debug build: nothing is inlined there.

A function counts when it stands in src/ or include/ and is called at least every second cycle, by
valgrind's callgrind. So do the calls from one of them to another: a call goes upward when the layer
that is called ranks above the caller's (layers.txt). --each prints all of them.
"""
import collections
import fnmatch
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

CYCLES = 1000
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class Layers:
    def __init__(self, text):
        self.order, self.interface, self.rules = [], [], []
        for line in text.splitlines():
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0] == "order":
                self.order = words[1:]
            elif words[0] == "interface":
                # The only word with a space in it.
                rest = " ".join(words[1:]).replace(" const", "\tconst").split(" ")
                self.interface += [word.replace("\t", " ") for word in rest]
            else:
                self.rules += [(p, self.order.index(words[0])) for p in words[1:]]

    def rank_of(self, path):
        return next((rank for p, rank in self.rules if fnmatch.fnmatchcase(path, p)), None)

    def is_interface(self, name):
        return any(fnmatch.fnmatchcase(name, p) for p in self.interface)


def source_of(path):
    """The file's path in the project, or None: another's code."""
    full = os.path.normpath(path)
    inside = full.startswith((str(ROOT / "src") + "/", str(ROOT / "include") + "/"))
    return os.path.relpath(full, ROOT) if inside else None


class Profile:
    """How often each function called each other, out of a callgrind.out without compression.

    A function is named by its own file (fl=); lines of other files in it (fi=, fe=) are inlined.
    """

    def __init__(self, text):
        self.calls = collections.Counter()  # (caller, callee): times
        self.called = collections.Counter()  # callee: times
        own = function = called_file = callee = None
        edges = collections.Counter()
        for line in text.splitlines():
            key, _, value = line.partition("=")
            if key == "fl":
                own = file = value
            elif key in ("fi", "fe"):
                file = value
            elif key == "fn":
                function, file = (own, value), own
            elif key in ("cfi", "cfl"):
                called_file = value
            elif key == "cfn":
                callee = (called_file or file, value)
                called_file = None
            elif key == "calls":
                edges[function, callee] += int(value.split()[0])
        self.add(edges)

    def add(self, edges):
        """A thunk, which the compiler puts before a virtual function, is that function."""
        prefix = "non-virtual thunk to "
        targets = {f[1]: f for edge in edges for f in edge if not f[1].startswith(prefix)}

        def real(function):
            name = function[1].removeprefix(prefix)
            return targets.get(name, (function[0], name))

        for (caller, callee), times in edges.items():
            self.calls[real(caller), real(callee)] += times
            if not caller[1].startswith(prefix):
                self.called[real(callee)] += times


def profile_of(program, url, folder):
    out = folder / "callgrind.out"
    subprocess.run(
        ["valgrind", "-q", "--tool=callgrind", "--compress-strings=no", "--compress-pos=no",
         f"--callgrind-out-file={out}", program, url, str(CYCLES)],
        check=True)
    return Profile(out.read_text())


def start_redis(folder):
    socket = folder / "redis.sock"
    server = subprocess.Popen(
        ["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir",
         str(folder)], stdout=subprocess.DEVNULL)
    until = time.monotonic() + 20
    while not socket.exists():
        if server.poll() is not None or time.monotonic() > until:
            sys.exit("count.py: redis-server does not come up")
        time.sleep(0.01)
    return server, f"redis+unix://{socket}"


def print_layers(functions, layers):
    count, calls, short = collections.Counter(), collections.Counter(), collections.Counter()
    for (file, _), times in functions.items():
        layer = layers.order[layers.rank_of(source_of(file))]
        count[layer] += 1
        calls[layer] += times
        short[layer] += file.endswith(".hpp")
    for layer in reversed(layers.order):
        print(f"  {layer}: {count[layer]} functions, {short[layer]} of them in headers, "
              f"{calls[layer] / CYCLES:.0f} calls")


def print_upward(edges, layers, with_each):
    known, others = collections.Counter(), collections.Counter()
    for caller, callee in sorted(edges):
        low, high = (layers.rank_of(source_of(f[0])) for f in (caller, callee))
        if low >= high:
            continue
        is_interface = layers.is_interface(callee[1])
        (known if is_interface else others)[layers.order[low], layers.order[high]] += 1
        if with_each:
            print(f"upward{', interface' if is_interface else ''}: {source_of(caller[0])} "
                  f"{caller[1]} -> {source_of(callee[0])} {callee[1]}")
    print(f"calls upward, from one function to another: {others.total()}, and through an "
          f"interface {known.total()}")
    for (low, high), count in sorted(others.items()):
        print(f"  {low} -> {high}: {count}")


def report(profile, layers, with_each):
    functions = {f: n for f, n in profile.called.items()
                 if n * 2 >= CYCLES and source_of(f[0])}
    files = {source_of(f[0]) for f in functions}
    unknown = sorted(path for path in files if layers.rank_of(path) is None)
    if unknown:
        sys.exit(f"count.py: no line of layers.txt fits {', '.join(unknown)}")
    if with_each:
        for file, name in sorted((source_of(f[0]), f[1]) for f in functions):
            print(f"{layers.order[layers.rank_of(file)]}: {file} {name}")
    edges = [e for e, n in profile.calls.items()
             if n * 2 >= CYCLES and e[0] in functions and e[1] in functions]
    print(f"functions that one lock() + unlock() over Redis calls: {len(functions)}")
    print(f"files they stand in: {len(files)}, of these .cpp: "
          f"{sum(f.endswith('.cpp') for f in files)}")
    print(f"calls of them: {sum(functions.values()) / CYCLES:.0f}")
    print_layers(functions, layers)
    print_upward(edges, layers, with_each)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for tool in ("valgrind", "redis-server"):
        if not shutil.which(tool):
            print(f"skipped: calls: {tool} is not installed")
            return
    with tempfile.TemporaryDirectory(prefix="holdfast-calls-") as name:
        folder = pathlib.Path(name)
        server, url = start_redis(folder)
        try:
            layers = Layers((HERE / "layers.txt").read_text())
            report(profile_of(sys.argv[1], url, folder), layers, "--each" in sys.argv)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
