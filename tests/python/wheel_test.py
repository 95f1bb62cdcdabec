#!/usr/bin/python3 -B
"""The Python package can be built as a wheel, and its types are right."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest
import zipfile

from fixture import ROOT, run


class Wheel(unittest.TestCase):
    def test_is_a_wheel_with_its_types(self):
        try:
            from setuptools import build_meta  # noqa: F401
        except ImportError:
            self.skipTest("python3-setuptools is not installed")
        with tempfile.TemporaryDirectory(prefix="holdfast-wheel-") as folder:
            copy = pathlib.Path(folder, "python")
            shutil.copytree(ROOT / "python", copy)
            build = "from setuptools import build_meta as b; print(b.build_wheel('..'))"
            subprocess.run(["/usr/bin/python3", "-c", build], cwd=copy, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=100)
            wheel, = pathlib.Path(folder).glob("*.whl")
            inside = set(zipfile.ZipFile(wheel).namelist())
        for file in (ROOT / "python/holdfast").iterdir():
            if file.is_file():
                self.assertIn(f"holdfast/{file.name}", inside)

    def test_passes_mypy(self):
        if not shutil.which("mypy", path="/usr/bin"):
            self.skipTest("mypy is not installed")
        with tempfile.TemporaryDirectory(prefix="holdfast-mypy-") as cache:
            done = subprocess.run(
                ["/usr/bin/mypy", "--strict", "--cache-dir", cache, str(ROOT / "python/holdfast")],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    run()
