#!/usr/bin/env python3
"""together.py [BUILD]: compiles all sources of each program of BUILD (default: build/suite) in one
piece. A build puts them together by the dozen, and each new file shifts the borders: where names
that are local to a file collide, or one hides another, a later build fails. Clang warns of more of
these than GCC. Exit 1 if a program does not compile."""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

compiler = shlex.split(os.environ.get("CXX") or shutil.which("clang++") or "g++")
# Of these, a check of the syntax needs none; two are followed by a word of their own.
unwanted = re.compile(r"-O.*|-g\d?|-pipe|--param=.*|-Winvalid-pch|-fpch.*|-Wno-restrict|-c")
unwanted_pairs = ("-o", "-include")


def pieces_of(build):
    """For each program that is compiled in several pieces: its sources and a piece's command.
    Pieces with names of their own stay apart, and sanitizers compile the same sources."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        piece = re.search(r"/(\w+)\.dir/Unity/unity_(\d+)_cxx\.cxx$", entry["file"])
        if piece and not piece[1].endswith(("_asan", "_tsan")):
            found.setdefault(piece[1], {})[int(piece[2])] = entry
    for program, pieces in found.items():
        if len(pieces) > 1:  # in their order: a name can hide only one before it
            text = "".join(pathlib.Path(e["file"]).read_text() for _, e in sorted(pieces.items()))
            yield program, re.findall(r'#include "(.+)"', text), pieces[0]


def flags_of(command):
    words = iter(shlex.split(command)[1:-1])
    for word in words:
        if word in unwanted_pairs:
            next(words)
        elif not unwanted.fullmatch(word):
            yield word


def compiles(program, sources, entry, folder):
    whole = folder / f"{program}.cpp"
    whole.write_text("".join(f'#include "{source}"\n' for source in sources))
    done = subprocess.run([*compiler, *flags_of(entry["command"]), "-fsyntax-only", whole],
                          cwd=entry["directory"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"{done.stderr}together: the {len(sources)} sources of {program} do not compile in "
              "one piece", flush=True)
    return done.returncode == 0


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/suite").resolve()
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        results = list(threads.map(lambda piece: compiles(*piece, pathlib.Path(folder)),
                                   pieces_of(build)))
    if not results:
        print(f"together: no program in {build} is compiled in several pieces")
    sys.exit(not results or not all(results))


main()
