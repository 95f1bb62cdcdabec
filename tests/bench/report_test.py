#!/usr/bin/env python3
"""What is generated from a run of the benchmarks is what the run gives, and a check notices
when not."""
import contextlib
import io
import json
import pathlib
import re
import shutil
import sys
import tempfile
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
sys.dont_write_bytecode = True
import ratio_report as report  # noqa: E402


def checked(root):
    """The result of the check, and what it prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = report.check(root)
    return code, said.getvalue()


class GeneratedPages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in [report.RUN, report.PAGE, report.CHART, "bench/bars.toml",
                     *report.PAGES_WITH_TABLES]:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, self.root / name)

    def edit(self, name, change):
        path = self.root / name
        before = path.read_text(encoding="utf-8")
        after = change(before)
        self.assertNotEqual(before, after)
        path.write_text(after, encoding="utf-8")

    def edit_run(self, change):
        run = json.loads((self.root / report.RUN).read_text(encoding="utf-8"))
        change(run)
        (self.root / report.RUN).write_text(json.dumps(run), encoding="utf-8")

    def a_measured_row(self, run):
        return next(row for row in run["rows"] if row["name"] == "redis/w1")

    def test_they_are_what_the_run_gives(self):
        self.assertEqual(checked(self.root), (0, ""))

    def test_the_page_has_a_line_for_each_bar(self):
        bars = tomllib.loads((self.root / "bench/bars.toml").read_text(encoding="utf-8"))
        page = (self.root / report.PAGE).read_text(encoding="utf-8")
        lines = re.findall(r"^\| `([a-z]+/[a-z0-9-]+)` \| .* \|.*\|.*\|.*\|.*\|.*\|.*\|$", page,
                           re.M)
        self.assertEqual(sorted(lines), sorted(bars))

    def test_a_figure_typed_by_hand_is_noticed(self):
        for name in [report.PAGE, report.CHART, *report.PAGES_WITH_TABLES]:
            with self.subTest(name):
                before = (self.root / name).read_text(encoding="utf-8")
                if name == report.CHART:
                    self.edit(name, lambda text: text.replace('x1="', 'x1="1', 1))
                else:
                    self.edit(name, lambda text: re.sub(
                        r"^(\| `?redis/w1`? \|.*\|)([^|]+)\|$", r"\1 1.00 |", text, flags=re.M))
                code, said = checked(self.root)
                self.assertEqual(code, 1)
                self.assertIn(name, said)
                (self.root / name).write_text(before, encoding="utf-8")

    def test_another_run_is_noticed_in_each_file(self):
        def be_faster(run):
            figure = self.a_measured_row(run)["figure"]
            for part in figure:
                figure[part] *= 2

        self.edit_run(be_faster)
        code, said = checked(self.root)
        self.assertEqual(code, 1)
        for name in [report.PAGE, report.CHART, *report.PAGES_WITH_TABLES]:
            self.assertIn(name, said)

    def test_a_new_bar_is_noticed(self):
        self.edit("bench/bars.toml", lambda text: text + """
["redis/new"]
kind = "rate"
bar = 1
unit = "of the limit"
cpus = 1
what = "a new row"
""")
        code, said = checked(self.root)
        self.assertEqual(code, 1)
        self.assertIn(report.PAGE, said)

    def test_a_bar_of_a_folder_without_a_section_is_an_error(self):
        self.edit("bench/bars.toml", lambda text: text.replace('["mysql/', '["other/', 1))
        with self.assertRaisesRegex(report.ReportError, "other/optimistic"):
            report.generated(self.root, self.root / report.RUN)

    def test_a_row_that_was_not_run_is_shown_as_not_measured(self):
        self.edit_run(lambda run: run["rows"].remove(self.a_measured_row(run)))
        pages = report.generated(self.root, self.root / report.RUN)
        self.assertRegex(pages[report.PAGE], r"\| `redis/w1` \|.*\| not measured \|")
        self.assertRegex(pages["README.md"], r"\| redis/w1 \|.*\| not measured \|")

    def test_a_missed_bar_is_bold(self):
        def miss(run):
            row = self.a_measured_row(run)
            row["verdict"], row["figure"]["median"] = "missed", 0.4

        self.edit_run(miss)
        pages = report.generated(self.root, self.root / report.RUN)
        self.assertIn("| **0.400** (", pages["README.md"])
        self.assertRegex(pages[report.PAGE], r"\| `redis/w1` \|.*\| \*\*missed\*\* \|")

    def test_what_is_no_run_replaces_nothing(self):
        before = (self.root / report.RUN).read_text(encoding="utf-8")
        other = self.root / "other.json"
        other.write_text('{"cells": []}', encoding="utf-8")
        with self.assertRaises(KeyError):
            report.write(self.root, other)
        self.assertEqual((self.root / report.RUN).read_text(encoding="utf-8"), before)
        self.assertEqual(checked(self.root), (0, ""))

    def test_a_peer_that_is_not_available_is_shown_as_skipped(self):
        def skip(run):
            contest = self.a_measured_row(run)["contests"][0]
            contest["peers"] = [{"name": "redsync", "skipped": "go is not installed"}]

        self.edit_run(skip)
        self.assertIn("| `redis/w1` | redsync | skipped: go is not installed |",
                      report.generated(self.root, self.root / report.RUN)[report.PAGE])


if __name__ == "__main__":
    unittest.main()
