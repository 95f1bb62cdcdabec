#!/usr/bin/env python3
# browser_test.py FOLDER: opens each page of the documentation site in FOLDER in a headless
# Chromium, types queries into its search and follows a result. Exit code 1 if a page lacks what it
# is for, or if the console of the browser shows an error.
import functools
import http.server
import json
import pathlib
import shutil
import sys
import threading

from chromium import Page, PageError


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(folder):
    """The search runs in a worker, which a browser refuses to load from a file: URL."""
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(QuietHandler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def front_page_has_navigation(page, site):
    page.open(site + "index.html")
    title = page.value("document.title")
    if "holdfast" not in title:
        raise PageError("the front page has the title " + title)
    tabs = page.value("document.querySelectorAll('.md-tabs__link').length")
    if tabs < 5:
        raise PageError(f"the front page has {tabs} tabs")


def reference_page_shows_the_class(page, site):
    page.open(site + "reference/api/lease.html")
    text = page.value("document.querySelector('article').innerText")
    for part in ("holdfast/lease.hpp", "class [[nodiscard]] lease", "loss_token"):
        if part not in text:
            raise PageError("the page of lease.hpp lacks " + part)
    if page.value("getComputedStyle(document.querySelector('article code')).display") == "none":
        raise PageError("the page of lease.hpp hides its code")


def every_page_opens(folder):
    def open_all(page, site):
        for file in sorted(pathlib.Path(folder).rglob("*.html")):
            path = file.relative_to(folder).as_posix()
            page.open(site + path)
            if not page.value("document.querySelector('article h1')?.innerText"):
                raise PageError(path + " has no heading")

    open_all.__name__ = "every_page_opens"
    return open_all


def search_finds(query, path):
    # mkdocs-material loses a query that arrives while it loads the index, and every later one.
    is_ready = ("document.querySelector('.md-search-result__meta').textContent.trim()"
                " !== 'Initializing search'")
    type_query = ("(() => {const box = document.querySelector('.md-search__input');"
                  f"box.focus(); box.value = {json.dumps(query)};"
                  "box.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}))})()")
    result = f"document.querySelector('.md-search-result__link[href*=\"{path}\"]')?.href"

    def search(page, site):
        page.open(site + "index.html")
        page.value("document.querySelector('[data-md-toggle=search]').click()")
        page.wait_until(is_ready)
        page.value(type_query)
        page.open(page.wait_until(result))
        page.wait_until(f"location.pathname === '{path}' && !!document.querySelector('article h1')")

    search.__name__ = f"the search for \"{query}\" leads to {path}"
    return search


def checks_of(folder):
    return [
        front_page_has_navigation,
        reference_page_shows_the_class,
        every_page_opens(folder),
        search_finds("fencing token", "/guides/fencing.html"),
        search_finds("loss_token", "/reference/api/lease.html"),
    ]


def problems_of(check, page, site):
    try:
        check(page, site)
    except PageError as e:
        return [str(e)] + page.errors
    return page.errors


def run(program, site, checks):
    failed = 0
    for check in checks:
        name = check.__name__
        try:
            page = Page(program)
        except PageError as e:
            problems = [str(e)]
        else:
            problems = problems_of(check, page, site)
            page.close()
        print(("failed: " if problems else "passed: ") + name)
        for problem in problems:
            print("  | " + problem)
        failed += bool(problems)
    return failed


def run_in_browser(folder, checks, what):
    program = shutil.which("chromium")
    if not program:
        print(f"skipped: {what} in a browser: chromium is not installed")
        return 0
    failed = run(program, serve(folder), checks)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    return run_in_browser(sys.argv[1], checks_of(sys.argv[1]), "the pages of the site")


if __name__ == "__main__":
    sys.exit(main())
