#!/usr/bin/env python3
"""The pages of the API reference, which are made of the public headers: each public name that the
ledger of the ABI knows occurs in them, with its section, and no name that is not public."""
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging" / "site"))
import api_pages  # noqa: E402

HEADERS = sorted((ROOT / "include" / "holdfast").glob("*.hpp"))
EXAMPLES = ROOT / "tests" / "examples" / "reference"
# Private, or in namespace detail; inline functions call them, or have them as arguments.
INTERNAL = {"forever", "lock_down", "lock_within", "of_server", "one_attempt", "options_size",
            "take_all"}
# asio.hpp, mysql.hpp and optimistic.hpp have examples in guides that are compiled.
WITHOUT_EXAMPLE = {"asio", "mysql", "optimistic", "holdfast", "fwd", "version"}


def page_of(header):
    return api_pages.page_of_header(header.name, header.read_text(encoding="utf-8"))


def public_names():
    """Classes of fwd.hpp, and what the ledger has of public members and enumerators."""
    names = set(re.findall(r"^(?:class|struct|enum class) (\w+)",
                           (ROOT / "include/holdfast/fwd.hpp").read_text(encoding="utf-8"), re.M))
    tree = xml.etree.ElementTree.parse(ROOT / "tests/consumer/abi/types.abi")
    for scope in tree.iter("namespace-decl"):
        if scope.get("name") == "holdfast":
            names.update(child.get("name") for member in scope.iter("data-member")
                         if member.get("access") in (None, "public") for child in member)
    names.update(value.get("name") for value in tree.iter("enumerator"))
    symbols = (ROOT / "tests/consumer/abi/symbols.txt").read_text(encoding="utf-8")
    names.update(re.findall(r"^holdfast::v0::(?!detail::)(?:\w+::)?(\w+)[\[(]", symbols, re.M))
    is_name = re.compile(r"~?[a-z]\w*[a-z0-9]$")
    return {name for name in names if name and is_name.match(name)} - private_names() - INTERNAL


def private_names():
    """The shared library exports private functions that inline functions call."""
    text = "\n".join(header.read_text(encoding="utf-8") for header in HEADERS)
    private = "\n".join(re.findall(r"^ private:\n(.*?)^};", text, re.M | re.S))
    public = re.sub(r"^ private:\n.*?^};", "", text, flags=re.M | re.S)
    return set(re.findall(r"\w+", private)) - set(re.findall(r"\w+", public))


class Reference(unittest.TestCase):
    pages = {header.stem: page_of(header) for header in HEADERS}

    def test_has_every_public_name(self):
        words = set(re.findall(r"~?\w+", "\n".join(self.pages.values())))
        self.assertGreater(len(public_names()), 200)
        self.assertEqual(sorted(public_names() - words), [])

    def test_has_a_section_for_each_class(self):
        sections = set(re.findall(r"^## ([\w:]+)", "\n".join(self.pages.values()), re.M))
        for name in ("mutex", "lease", "client", "election", "guarded", "url::endpoint", "errc"):
            self.assertIn(name, sections)

    def test_shows_no_internal_name(self):
        for name, page in self.pages.items():
            for word in ("detail::", "HOLDFAST_API", "acquire_impl", "private:",
                         "operator bool() const noexcept {"):
                code = "\n".join(re.findall(r"```cpp\n(.*?)```", page, re.S))
                lines = [line for line in code.split("\n") if word in line]
                self.assertEqual(lines, [], name)

    def test_shows_the_overloads_that_a_template_stands_for(self):
        page = self.pages["election"]
        self.assertIn("const lease& campaign(std::string_view value, std::stop_token = {});", page)
        self.assertIn("void resign(std::error_code&) noexcept;", page)
        self.assertIn("try_campaign_for(duration d, std::string_view value,", page)
        self.assertNotIn("E&&...", page)

    def test_has_tables_lists_of_errors_and_parameters(self):
        page = self.pages["lease"]
        self.assertIn("| `held` | Whether the lock is held now. |", page)
        self.assertIn("- `ttl`: from 100 ms to 366 days;", page)
        self.assertIn("- `errc::outcome_unknown`: no reply within the op-timeout\n", page)

    def test_has_an_example_of_each_header(self):
        examples = {path.stem for path in EXAMPLES.glob("*.cpp")}
        self.assertEqual(sorted(set(self.pages) - WITHOUT_EXAMPLE), sorted(examples))
        for name in examples:
            text = (EXAMPLES / f"{name}.cpp").read_text(encoding="utf-8")
            self.assertIn("## Example\n\n```cpp\n" + text.rstrip(),
                          api_pages.page_of_header(f"{name}.hpp", "// x\n", text))


if __name__ == "__main__":
    unittest.main()
