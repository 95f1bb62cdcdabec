# A hook of mkdocs. Pages link to files of the source tree outside of docs/. The site gets a copy of
# each such file below source/, as text, and the links lead there. Each public header becomes a page
# below reference/api/ (api_pages.py, c_page.py), with the program of that name in
# tests/examples/reference/, and the Python package becomes reference/python.md (python_page.py).
import os
import posixpath
import re
import sys

from mkdocs.structure.files import File

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_pages  # noqa: E402
import c_page  # noqa: E402
import python_page  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SITE_SOURCES = os.path.join(ROOT, "build", "site-sources")
PYTHON = "python/holdfast/__init__.py"
HEADER = re.compile(r"include/holdfast/([a-z_]+)\.(hpp|h)")
LINK = re.compile(r"(\]\()([^)\s:#]+)((?:#[^)\s]*)?\))")


def outside_of_docs(page, target):
    """The path in the source tree, if the link leaves docs/ and the file exists."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
    if path.startswith(("docs/", "..")) or not os.path.exists(os.path.join(ROOT, path)):
        return None
    return path


def page_of_header(name):
    with open(os.path.join(ROOT, "include", "holdfast", name), encoding="utf-8") as file:
        text = file.read()
    if name.endswith(".h"):
        return c_page.page(text)
    example = os.path.join(ROOT, "tests", "examples", "reference", name.replace(".hpp", ".cpp"))
    if not os.path.exists(example):
        return api_pages.page_of_header(name, text)
    with open(example, encoding="utf-8") as file:
        return api_pages.page_of_header(name, text, file.read())


def name_in_site(path):
    if path == PYTHON:
        return "reference/python.md"
    header = HEADER.fullmatch(path)
    if header:
        return f"reference/api/{header.group(1)}{'' if path.endswith('.hpp') else '_h'}.md"
    return "source/" + path + ("/index.txt" if os.path.isdir(os.path.join(ROOT, path)) else ".txt")


def text_of(path):
    if path == PYTHON:
        return python_page.page(os.path.join(ROOT, os.path.dirname(PYTHON)))
    header = HEADER.fullmatch(path)
    if header:
        return page_of_header(os.path.basename(path))
    full = os.path.join(ROOT, path)
    if os.path.isdir(full):
        return "\n".join(sorted(os.listdir(full))) + "\n"
    with open(full, encoding="utf-8") as file:
        return file.read()


def on_files(files, config):
    headers = os.listdir(os.path.join(ROOT, "include", "holdfast"))
    linked = {"include/holdfast/" + name for name in headers if name.endswith((".hpp", ".h"))}
    linked.add(PYTHON)
    for page in files.documentation_pages():
        with open(page.abs_src_path, encoding="utf-8") as file:
            for match in LINK.finditer(file.read()):
                linked.add(outside_of_docs(page.src_uri, match.group(2)))
    for path in sorted(linked - {None}):
        name = name_in_site(path)
        full = os.path.join(SITE_SOURCES, name)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text_of(path))
        files.append(File(name, SITE_SOURCES, config["site_dir"], config["use_directory_urls"]))
    return files


def on_page_markdown(markdown, page, config, files):
    def lead_to_copy(match):
        path = outside_of_docs(page.file.src_uri, match.group(2))
        if path is None:
            return match.group(0)
        target = posixpath.relpath(name_in_site(path), posixpath.dirname(page.file.src_uri) or ".")
        return match.group(1) + target + ")"

    return LINK.sub(lead_to_copy, markdown)
