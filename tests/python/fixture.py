"""For the tests of the Python package: the package of this source tree, and the URL of a store that
no other test uses. The URL is the first argument of the program."""

import pathlib
import sys
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
import holdfast  # noqa: E402

URL = sys.argv[1] if len(sys.argv) > 1 else "memory:python"
BACKEND = URL.split(":")[0].split("+")[0]
LONGEST = 60  # the seconds after which an event that a test waits for counts as missing


def until(condition):
    """Waits for a condition that has no event of its own. False when it stays false."""
    pause = threading.Event()
    for _ in range(LONGEST * 200):
        if condition():
            return True
        pause.wait(0.005)
    return False


class StoreTest(unittest.TestCase):
    def setUp(self):
        self.client = holdfast.Client(URL)
        self.other = holdfast.Client(URL)
        self.addCleanup(self.client.close)
        self.addCleanup(self.other.close)

    def name(self):
        return self.id().rsplit(".", 1)[1]

    def assert_free(self):
        self.other.lock(self.name()).acquire(timeout=LONGEST).release()


def run():
    unittest.main(argv=[sys.argv[0]], verbosity=1)
