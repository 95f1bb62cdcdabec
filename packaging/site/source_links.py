# A hook of mkdocs. Pages link to files of the source tree outside of docs/. The site gets a copy of
# each such file below source/, as text, and the links lead there.
import os
import posixpath
import re

from mkdocs.structure.files import File

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINK = re.compile(r"(\]\()([^)\s:#]+)((?:#[^)\s]*)?\))")


def outside_of_docs(page, target):
    """The path in the source tree, if the link leaves docs/ and the file exists."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
    if path.startswith(("docs/", "..")) or not os.path.exists(os.path.join(ROOT, path)):
        return None
    return path


def name_in_site(path):
    return "source/" + path + ("/index.txt" if os.path.isdir(os.path.join(ROOT, path)) else ".txt")


def text_of(path):
    full = os.path.join(ROOT, path)
    if os.path.isdir(full):
        return "\n".join(sorted(os.listdir(full))) + "\n"
    with open(full, encoding="utf-8") as file:
        return file.read()


def on_files(files, config):
    folder = os.path.join(ROOT, "build", "site-sources")
    linked = set()
    for page in files.documentation_pages():
        with open(page.abs_src_path, encoding="utf-8") as file:
            for match in LINK.finditer(file.read()):
                linked.add(outside_of_docs(page.src_uri, match.group(2)))
    for path in sorted(linked - {None}):
        name = name_in_site(path)
        full = os.path.join(folder, name)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text_of(path))
        files.append(File(name, folder, config["site_dir"], config["use_directory_urls"]))
    return files


def on_page_markdown(markdown, page, config, files):
    def lead_to_copy(match):
        path = outside_of_docs(page.file.src_uri, match.group(2))
        if path is None:
            return match.group(0)
        target = posixpath.relpath(name_in_site(path), posixpath.dirname(page.file.src_uri) or ".")
        return match.group(1) + target + ")"

    return LINK.sub(lead_to_copy, markdown)
