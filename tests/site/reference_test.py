#!/usr/bin/env python3
"""The pages of the API reference, which are made of the public headers and of the Python package:
each public name occurs in them, with its section and its purpose, and no name that is not public.
"""
import ast
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging" / "site"))
import api_pages  # noqa: E402
import c_page  # noqa: E402
import docstrings  # noqa: E402
import python_page  # noqa: E402

HEADERS = sorted((ROOT / "include" / "holdfast").glob("*.hpp"))
C_HEADER = (ROOT / "include/holdfast/holdfast.h").read_text(encoding="utf-8")
PYTHON = ROOT / "python" / "holdfast"
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

    def test_has_a_purpose_of_each_member(self):
        for name, page in self.pages.items():
            self.assertEqual(re.findall(r"^\| `.*\| +\|$", page, re.M), [], name)

    def test_has_labels_of_the_parts_of_a_comment(self):
        page = self.pages["client"]
        section = page[page.index("### break_lock\n"):page.index("### prune\n")]
        labels = re.findall(r"^\*\*(.*)\*\*$", section, re.M)
        self.assertEqual(labels, ["Parameters", "Return value", "Errors"])
        self.assertIn("**Blocking**\n\nBlocks until", page)
        self.assertIn("**Thread safety**\n\nAny number of threads", self.pages["lease"])

    def test_has_an_example_of_each_header(self):
        examples = {path.stem for path in EXAMPLES.glob("*.cpp")}
        self.assertEqual(sorted(set(self.pages) - WITHOUT_EXAMPLE), sorted(examples))
        for name in examples:
            text = (EXAMPLES / f"{name}.cpp").read_text(encoding="utf-8")
            self.assertIn("## Example\n\n```cpp\n" + text.rstrip(),
                          api_pages.page_of_header(f"{name}.hpp", "// x\n", text))


def table_of(body):
    """The rows of the members of a struct of this body, with an enum before it."""
    header = ("// x\n#pragma once\ninline namespace HOLDFAST_API v0 {\n"
              "// A colour.\nenum class colour : unsigned char { red };\n\n"
              f"struct s {{\n{body}}};\n}}  // namespace v0\n")
    page = api_pages.page_of_header("s.hpp", header)
    return [line for line in page.split("\n") if line.startswith("| ")][1:]


class Tables(unittest.TestCase):
    def test_a_member_has_the_comment_behind_it_however_it_is_aligned(self):
        self.assertEqual(table_of("  bool ttl = false;         // extend() has a meaning\n"
                                  "  bool revocation = false;  // asks first\n"),
                         ["| `ttl` | `extend()` has a meaning |", "| `revocation` | asks first |"])

    def test_a_comment_behind_a_member_goes_on_in_its_column(self):
        self.assertEqual(table_of("  int grants = 0;         // of the store\n"
                                  "  int grants_handed = 0;  // of these: handed over while this\n"
                                  "                          // client waited; others\n"
                                  "  int doubts = 0;         // of leases\n"),
                         ["| `grants` | of the store |",
                          "| `grants_handed` | of these: handed over while this client waited; "
                          "others |",
                          "| `doubts` | of leases |"])

    def test_a_comment_above_a_member_that_has_its_own_is_the_heading_of_those_below(self):
        self.assertEqual(table_of("  bool fifo = false;  // in order\n"
                                  "  // The following describe the client.\n"
                                  "  bool shared = false;  // it has shared_mutex\n"),
                         ["| `fifo` | in order |", "| *The following describe the client.* | |",
                          "| `shared` | it has `shared_mutex` |"])

    def test_members_share_the_comment_above_them_unless_they_have_their_own(self):
        self.assertEqual(table_of("  // Of the holder. As it gave them.\n"
                                  "  std::string note, host;\n"
                                  "  int mode = 0;  // how it holds the lock\n"),
                         ["| `note`, `host` | Of the holder. As it gave them. |",
                          "| `mode` | how it holds the lock |"])

    def test_a_member_without_a_comment_has_the_purpose_of_its_type(self):
        self.assertEqual(table_of("  ns::colour background = ns::colour::red;\n"),
                         ["| `background` | A colour. |"])

    def test_names_each_declarator_and_no_argument_of_a_template(self):
        self.assertEqual(table_of("  int sent = 0, confirmed = 0;  // of grants (all)\n"
                                  "  std::array<int, bounds.size() + 1> buckets{};  // counts\n"),
                         ["| `sent`, `confirmed` | of grants (all) |", "| `buckets` | counts |"])

    def test_a_purpose_ends_before_the_parameters(self):
        self.assertEqual(docstrings.first_sentence(["Opens a store that can be used.", "",
                                                    "url  of the store"]),
                         "Opens a store that can be used.")
        self.assertEqual(docstrings.first_sentence(["Returns whether it is in doubt.",
                                                    "by  a lease"]),
                         "Returns whether it is in doubt.")


class Comments(unittest.TestCase):
    def test_each_part_has_its_label_in_one_order(self):
        page = docstrings.document(["Takes a lock away. For operators.", "", "name  of the lock",
                                    "Returns true if", "it was taken.", "errc::closed  the client",
                                    "              was closed",
                                    "The others are those of list(). Blocks for 1 s. Safe to call "
                                    "from any thread.", "", "A remark."])
        self.assertEqual([line for line in page if line],
                         ["Takes a lock away. For operators.", "A remark.",
                          "**Parameters**", "- `name`: of the lock",
                          "**Return value**", "Returns true if it was taken.",
                          "**Errors**", "- `errc::closed`: the client was closed",
                          "The others are those of `list()`.",
                          "**Blocking**", "Blocks for 1 s.",
                          "**Thread safety**", "Safe to call from any thread."])


class CPage(unittest.TestCase):
    page = c_page.page(C_HEADER)

    def test_has_every_public_name(self):
        text = re.sub(r"//.*|^#.*", "", C_HEADER, flags=re.M)
        names = set(re.findall(r"\b(?:holdfast|HOLDFAST)_\w+|(?<=[ *])\w+(?=;)", text))
        names -= {"HOLDFAST_C_API"}
        self.assertGreater(len(names), 80)
        self.assertEqual(sorted(names - set(re.findall(r"\w+", self.page))), [])

    def test_has_a_row_and_a_section_of_each_function(self):
        functions = re.findall(r"HOLDFAST_C_API[^(]*?\b(holdfast_\w+)\(", C_HEADER)
        rows = re.findall(r"^\| `(holdfast_\w+)` (?:\| [^|]+ ){3}\|$", self.page, re.M)
        self.assertEqual(rows, functions)
        titles = ", ".join(re.findall(r"^## (holdfast_.*)$", self.page, re.M)).split(", ")
        self.assertEqual(sorted(set(functions) - set(titles)), [])

    def test_has_parameters_the_return_value_and_errors(self):
        self.assertIn("| `hook`, `context` | none |", self.page)
        self.assertRegex(self.page, r"\| `holdfast_client_close` \|.*\| `client` \| Returns 1 ")
        self.assertIn("**Errors**\n\n- `HOLDFAST_BAD_URL`: ", self.page)
        self.assertNotRegex(self.page, r"(?m)^\| `.*\| +\|$")


class PythonPage(unittest.TestCase):
    page = python_page.page(PYTHON)

    def test_has_every_public_name(self):
        tree = ast.parse((PYTHON / "__init__.py").read_text(encoding="utf-8"))
        names = next(ast.literal_eval(node.value) for node in tree.body
                     if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
        self.assertGreater(len(names), 20)
        words = set(re.findall(r"\w+", self.page))
        self.assertEqual(sorted(set(names) - words), [])

    def test_has_every_method_and_parameter(self):
        tree = ast.parse((PYTHON / "_client.py").read_text(encoding="utf-8"))
        sections = set(re.findall(r"^### (\w+\.\w+)$", self.page, re.M))
        for owner in tree.body:
            for node in owner.body if isinstance(owner, ast.ClassDef) else []:
                if python_page.is_public(node):
                    self.assertIn(f"{owner.name}.{node.name}", sections)
                    parameters = [a.arg for a in node.args.args[1:] + node.args.kwonlyargs]
                    title = f"### {owner.name}.{node.name}\n"
                    code = self.page[self.page.index(title):].split("```")[1]
                    for name in parameters:
                        self.assertRegex(code, rf"\b{name}: ")

    def test_has_a_purpose_of_each_name_and_the_code_of_each_exception(self):
        members = self.page[:self.page.index("## Exceptions")]
        self.assertEqual(re.findall(r"^\| `.*\| +\|$", members, re.M), [])
        self.assertIn("| `LostError` | `LeaseEndedError` | `lost` | The lease ", self.page)


if __name__ == "__main__":
    unittest.main()
