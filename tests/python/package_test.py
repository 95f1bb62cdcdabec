#!/usr/bin/python3 -B
"""The Python package agrees with the C header."""

import ctypes
import re
import unittest

from fixture import ROOT, holdfast, run
from holdfast import _errors, _library

HEADER = (ROOT / "include/holdfast/holdfast.h").read_text()
SOURCE = (ROOT / "python/holdfast/_library.py").read_text()
UNUSED = {"lease_on_loss", "lease_name", "set_log_hook", "try_acquire",
          "version"}


def members(structure):
    """The names of the members of a structure of the header."""
    body = re.search(rf"struct {structure} {{(.*?)}}", HEADER, re.S)[1]
    return re.findall(r"^ +[\w ]+[* ]+(\w+);", body, re.M)


class Package(unittest.TestCase):
    def test_has_an_exception_for_each_code_in_the_group_of_the_code(self):
        groups = {1: holdfast.BusyError, 2: holdfast.StoreError, 3: holdfast.LeaseEndedError,
                  4: holdfast.UsageError}
        codes = dict(re.findall(r"HOLDFAST_(\w+) = (\d+)", HEADER.split("holdfast_errc;")[0]))
        del codes["OK"]
        self.assertEqual(len(codes), 17)
        for name, number in codes.items():
            with self.subTest(name):
                self.assertEqual(_library.errc_name(int(number)).decode(), name.lower())
                error = _errors.CLASS_OF_CODE[name.lower()]
                self.assertTrue(issubclass(error, groups[_library.errc_group(int(number))]))
                self.assertIs(getattr(holdfast, error.__name__), error)
        self.assertEqual(len(_errors.CLASS_OF_CODE), len(codes))

    def test_declares_each_function_of_the_header(self):
        declared = set(re.findall(r"_function\(\s*\"(\w+)\"", SOURCE))
        exported = set(re.findall(r"HOLDFAST_C_API[^(]*?\bholdfast_(\w+)\(", HEADER))
        self.assertEqual(declared | UNUSED, exported)

    def test_declares_the_members_and_numbers_of_the_header(self):
        for structure, ours in (("holdfast_open_options", _library.OpenOptions),
                                ("holdfast_acquire_options", _library.AcquireOptions)):
            self.assertEqual(members(structure), [name for name, _ in ours._fields_])
        for name, number in (("MUTEX", _library.MUTEX), ("SHARED", _library.SHARED),
                             ("EXCLUSIVE", _library.EXCLUSIVE), ("PERMIT", _library.PERMIT),
                             ("RENEW_DEFAULT", _library.RENEW_DEFAULT),
                             ("RENEW_AUTOMATIC", _library.RENEW_AUTOMATIC),
                             ("RENEW_MANUAL", _library.RENEW_MANUAL)):
            self.assertRegex(HEADER, rf"HOLDFAST_{name} = {number}\b")

    def test_structures_have_the_size_that_the_library_accepts(self):
        options = _library.OpenOptions(size=ctypes.sizeof(_library.OpenOptions) + 1)
        with self.assertRaises(holdfast.BadOptionError) as caught:
            _library.client_open("memory:", options)
        size = ctypes.sizeof(_library.OpenOptions)
        self.assertIn(f"not at most {size};", str(caught.exception))

    def test_has_the_version_of_the_library(self):
        project = (ROOT / "python/pyproject.toml").read_text()
        header = (ROOT / "include/holdfast/version.hpp").read_text()
        self.assertIn(f'version = "{holdfast.__version__}"', project)
        self.assertIn(f'HOLDFAST_VERSION "{holdfast.__version__}"', header)


if __name__ == "__main__":
    run()
