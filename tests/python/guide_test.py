#!/usr/bin/python3 -B
"""The blocks of docs/guides/python.md run."""

import asyncio
import re
import unittest

from fixture import ROOT, URL, run

TOKENS = []


async def write_report_async(token):
    TOKENS.append(token)


class Guide(unittest.TestCase):
    def test_has_blocks_that_run(self):
        page = (ROOT / "docs/guides/python.md").read_text()
        blocks = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
        stubs = {
            "write_report": TOKENS.append,
            "write_report_async": write_report_async,
            "chunks": lambda: range(2),
            "process": TOKENS.append,
            "show_catalogue": lambda: TOKENS.append(0),
            "render": lambda: TOKENS.append(0),
        }
        for block in blocks:
            exec(block.replace("redis://localhost", URL), stubs)
        asyncio.run(stubs["worker"]())
        self.assertEqual(len(blocks), 4)
        self.assertEqual(len(TOKENS), 6)
        self.assertGreater(TOKENS[-1], TOKENS[0])


if __name__ == "__main__":
    run()
