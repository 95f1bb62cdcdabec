#!/usr/bin/env python3
# survey_test.py FOLDER: opens the page of a survey in a headless Chromium. Exit code 1 if a chart
# shows other figures than survey.json, if a cell is empty, or if the console shows an error.
import json
import pathlib
import sys

from browser_test import run_in_browser
from chromium import PageError


def all_cells_are_filled(survey):
    def check(page, site):
        for cell in survey["cells"]:
            if "figures" not in cell and not cell["refused"]:
                raise PageError("{topology}/{lock}/{load} is empty".format(**cell))
        if not any("figures" in cell for cell in survey["cells"]):
            raise PageError("no cell has figures")

    return check


def charts_show_the_figures(survey):
    def check(page, site):
        page.open(site + "survey.html")
        for load in dict.fromkeys(cell["load"] for cell in survey["cells"]):
            page.value(f"element('load').value = {json.dumps(load)}; draw_all()")
            cells = [c for c in survey["cells"] if c["load"] == load and "figures" in c]
            expect(page, "charts.rates.data.datasets[0].data",
                   [c["figures"]["per_second"]["median"] for c in cells])
            expect(page, "charts.fairness.data.datasets[0].data",
                   [c["figures"]["jain"] for c in cells])
            expect(page, "charts.acquire.data.datasets.map(line => line.data.at(-1).x)",
                   [c["figures"]["acquire"]["curve"][-1][1] / 1000 for c in cells
                    if c["figures"]["acquire"]["samples"]])
            expect(page, "charts.timelines.data.datasets.flatMap(bars => bars.data)"
                         ".filter(bar => bar).length",
                   sum(len(c["figures"]["timeline"]) for c in cells))
            expect(page, "document.querySelectorAll('#figures tbody tr').length",
                   sum(c["load"] == load for c in survey["cells"]))

    return check


def lines_of(points):
    """The points of each lock, in the order in which the locks appear: (topology, lock, point)."""
    locks = dict.fromkeys((topology, lock) for topology, lock, _ in points)
    return [[point for *lock, point in points if tuple(lock) == one] for one in locks]


def throughput_is_shown_by_workers(survey):
    def check(page, site):
        page.open(site + "survey.html")
        workers = {"free": 1} | {"hot-" + str(n): n for n in (2, 8, 16, 32, 64, 256)}
        points = [(c["topology"], c["lock"],
                   [workers[c["load"]], c["figures"]["per_second"]["median"]])
                  for c in survey["cells"] if c["load"] in workers and "figures" in c]
        expect(page, "charts.workers.data.datasets.map(l => l.data.map(p => [p.x, p.y]))",
               lines_of(points))

    return check


def the_model_is_drawn_with_the_measured_times(survey):
    def check(page, site):
        page.open(site + "survey.html")
        for index, figure in enumerate(("measured", "model")):
            points = [(c["topology"], c["lock"], [c["utilisation"], c[figure] / 1000])
                      for c in survey["model"] if c["what"] == "acquire us"]
            expect(page, f"charts.queue.data.datasets.filter((l, i) => i % 2 === {index})"
                         ".map(l => l.data.map(p => [p.x, p.y]))",
                   [sorted(line) for line in lines_of(points)])

    return check


def the_table_of_the_documents_is_shown(survey):
    def check(page, site):
        page.open(site + "survey.html")
        expect(page, "[...document.querySelectorAll('#documents tr')]"
                     ".map(r => [...r.cells].map(c => c.textContent))", survey["documents"])
        if len(survey["documents"]) < 2:
            raise PageError("the table of the success of attempts is empty")

    return check


def each_claim_is_shown(survey):
    def check(page, site):
        page.open(site + "survey.html")
        expect(page, "[...document.querySelectorAll('#claims tbody tr')]"
                     ".map(r => [...r.cells].map(c => c.textContent))",
               [[c["text"], c["theirs"], c["measured"], c["how"], c["result"]]
                for c in survey["claims"]])

    return check


def a_busy_lock_has_one_holder_at_a_time(survey):
    def check(page, site):
        for cell in survey["cells"]:
            if "figures" not in cell or cell["unsafe"]:
                continue
            timeline = cell["figures"]["timeline"]
            for (_, _, end), (_, begin, _) in zip(timeline, timeline[1:]):
                if begin < end:
                    raise PageError("{topology}/{lock}/{load} has two holders".format(**cell))
        if not any(c["figures"]["timeline"] for c in survey["cells"] if "figures" in c):
            raise PageError("no cell has a timeline")

    return check


def the_model_is_compared(survey):
    def check(page, site):
        page.open(site + "survey.html")
        expect(page, "[...document.querySelectorAll('#model tbody tr')]"
                     ".map(r => r.cells[0].textContent + ' ' + r.cells[6].textContent)",
               [c["topology"] + " " + page.value(f"digits({c['measured']})")
                for c in survey["model"]])
        if not survey["model"]:
            raise PageError("no figure is compared with the model")

    return check


def a_store_is_shown_alone(survey):
    def check(page, site):
        page.open(site + "survey.html")
        store = survey["cells"][-1]["topology"]
        page.value(f"element('store').value = {json.dumps(store)}; draw_all()")
        stores = page.value("[...document.querySelectorAll('#figures tbody tr')]"
                            ".map(row => row.cells[0].textContent)")
        if set(stores) != {store}:
            raise PageError(f"the table of {store} has {sorted(set(stores))}")

    return check


def it_fits_a_phone(survey):
    def check(page, site):
        page.request("Emulation.setDeviceMetricsOverride",
                     {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True})
        page.open(site + "survey.html")
        width = page.value("document.documentElement.scrollWidth")
        if width > 390:
            raise PageError(f"a screen 390 pixels wide needs {width}")

    return check


def it_is_dark_in_dark_mode(survey):
    def check(page, site):
        page.request("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark"}]})
        page.open(site + "survey.html")
        ground = page.value("getComputedStyle(document.body).backgroundColor")
        if ground != "rgb(20, 24, 31)":
            raise PageError("the page is " + ground)

    return check


def expect(page, expression, wanted):
    found = page.value(expression)
    if found != wanted:
        raise PageError(f"{expression} is {found}, not {wanted}")


def main():
    folder = pathlib.Path(sys.argv[1])
    survey = json.loads((folder / "survey.json").read_text(encoding="utf-8"))
    makers = [all_cells_are_filled, charts_show_the_figures, a_busy_lock_has_one_holder_at_a_time,
              throughput_is_shown_by_workers, the_model_is_compared,
              the_model_is_drawn_with_the_measured_times, the_table_of_the_documents_is_shown,
              each_claim_is_shown,
              a_store_is_shown_alone, it_fits_a_phone, it_is_dark_in_dark_mode]
    checks = []
    for maker in makers:
        check = maker(survey)
        check.__name__ = maker.__name__
        checks.append(check)
    return run_in_browser(str(folder), checks, "the page of the survey")


if __name__ == "__main__":
    sys.exit(main())
