"""Writes what the results of `holdfast-bench ratio --out` fill: the page of all rows, its chart,
and the tables of figures in other pages.

usage: ratio_report.py RUN.json | --check [--root FOLDER]

RUN.json   is copied to docs/internals/performance.json, and everything is written from it
--check    writes nothing; exit code 1 if a file differs from what that copy gives
"""
import argparse
import json
import math
import pathlib
import re
import shutil
import sys
import tomllib

RUN = "docs/internals/performance.json"
PAGE = "docs/internals/performance.md"
CHART = "docs/performance.svg"
# The first cell of a line of a table there may be the name of a row; its last cell is then filled.
PAGES_WITH_TABLES = ["README.md", "README.zh-CN.md", "docs/explanation/performance.md"]
ABSOLUTE_UNITS = ["ns", "us", "s", "bytes", "of one core"]
DISTURBED_FROM = 0.15  # as in the survey

SECTIONS = {
    "Process memory": ["memory"],
    "Files and the command": ["file", "run"],
    "Redis": ["redis"],
    "Sentinel, Cluster and shards": ["sentinel", "cluster", "shards"],
    "Redlock": ["redlock"],
    "ZooKeeper": ["zookeeper"],
    "MariaDB and MySQL": ["mysql"],
}

CHART_ROWS = {
    "file/w1": "file: lock and unlock vs. bare flock",
    "redis/w1": "Redis: lock and unlock vs. SET and a script",
    "zookeeper/w1": "ZooKeeper: lock and unlock vs. bare client",
    "redlock/w1": "Redlock: lock and unlock vs. bare commands",
    "mysql/w1-for-update": "MariaDB: lock and unlock vs. bare statements",
    "redis/w4": "Redis: 4 processes vs. BLPOP token",
    "redis/redisson-w4": "Redis: 4 processes vs. Redisson",
    "redis/redisson-w3": "Redis: 16 threads vs. Redisson",
    "zookeeper/drain": "ZooKeeper: 1,000 sessions vs. Curator",
    "zookeeper/w3": "ZooKeeper: 16 threads vs. Curator",
    "redlock/w4": "Redlock: 4 processes vs. redlock for node",
}


class ReportError(Exception):
    pass


def plain(value):
    """Three significant digits, without an exponent."""
    if value == 0:
        return "0"
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"


def percent(part):
    return f"{100 * part:.0f} %"


def is_measured(row):
    return "figure" in row


def in_words(row):
    """The figure for a table of another page; bold: the row misses its bar."""
    if not is_measured(row):
        return "not measured"
    f = row["figure"]
    median = plain(f["median"])
    if row["verdict"] == "missed":
        median = f"**{median}**"
    unit = " " + row["unit"] if row["unit"] in ABSOLUTE_UNITS else ""
    return f"{median}{unit} ({plain(f['min'])} – {plain(f['max'])})"


def bar_text(bar):
    sign = ">=" if bar["kind"] == "rate" else "<="
    text = "none" if bar["bar"] == 0 else f"{sign} {bar['bar']:g}"
    for name, most in bar.get("at_most", {}).items():
        text += f"; {name} <= {most:g}"
    return text


def deciding(row):
    """The contest that is the worst for holdfast."""
    return next((c for c in row["contests"] if c.get("figure") == row["figure"]),
                row["contests"][0])


def conditions(row):
    texts = []
    for name in row["at_most"]:
        values = [c["beside"][name] for c in row["contests"] if name in c.get("beside", {})]
        texts.append(f"; {name} {plain(max(values))}")
    return "".join(texts)


def table(titles, aligned_left, rows):
    rules = ["---" if i < aligned_left else "---:" for i in range(len(titles))]
    lines = ["| " + " | ".join(titles) + " |", "|" + "|".join(rules) + "|"]
    for row in rows:
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    return "\n".join(lines) + "\n"


def line_of(name, bar, row):
    start = [f"`{name}`", bar["what"], bar_text(bar)]
    if not row:
        return start + ["-"] * 5 + ["not measured"]
    if not is_measured(row):
        return start + ["-"] * 5 + [f"{row['verdict']}: {row['reason']}"]
    f, c = row["figure"], deciding(row)
    limit = plain(c["limit"]) if c["limit"] else "-"
    return start + [plain(f["median"]) + conditions(row), f"{plain(f['min'])} – {plain(f['max'])}",
                    limit, plain(c["holdfast"]), percent(row["others_cpu"]),
                    result_text(bar, row)]


def result_text(bar, row):
    if bar["bar"] == 0 and row["verdict"] == "met":
        return "shown"
    return "**missed**" if row["verdict"] == "missed" else row["verdict"]


def peer_lines(rows):
    for row in rows:
        for contest in row.get("contests", []):
            for peer in contest.get("peers", []):
                name = f"`{row['name']}`"
                if "skipped" in peer:
                    yield [name, peer["name"], f"skipped: {peer['skipped']}", "-", "-"]
                    continue
                figure = peer["figure"]
                yield [name, peer["name"], plain(figure),
                       plain(figure / contest["limit"]) if contest["limit"] else "-",
                       plain(contest["holdfast"] / figure) if figure else "-"]


def section(title, names, bars, measured):
    text = f"\n## {title}\n\n"
    text += table(["row", "what is compared", "bar", "median", "range", "the limit", "holdfast",
                   "others", "result"], 3,
                  [line_of(name, bars[name], measured.get(name)) for name in names])
    peers = list(peer_lines([measured[name] for name in names if name in measured]))
    if peers:
        text += ("\nOther libraries at the same work:\n\n" +
                 table(["row", "library", "per second", "of the limit",
                        "holdfast, times the library"], 2, peers))
    return text


def heading(run):
    machine, versions = run["machine"], run["versions"]
    lines = [f"{machine['processor']}, {machine['processors']} processors, {machine['system']}, "
             f"kernel {machine['kernel']}"]
    lines += [f"{name} {version}" for name, version in versions.items()]
    measured = [row for row in run["rows"] if is_measured(row)]
    disturbed = sum(row["others_cpu"] >= DISTURBED_FROM for row in measured)
    lines.append(f"{run['pairs']} pairs of {run['seconds']:g} s a side, or longer where bars.toml "
                 "says so")
    lines.append("Servers, limits and holdfast share the processors of a row.")
    if disturbed:
        lines.append(f"Other programs used more than 15 % of the machine during {disturbed} of "
                     f"{len(measured)} rows.")
    return "\n".join(lines)


def page(run, bars):
    measured = {row["name"]: row for row in run["rows"]}
    text = f"""# Benchmark results

For work on holdfast. `bench/ratio_report.py` generates this page from the results of one run:

    ./dev bench ratio --peers --out build/ratio.json
    ./dev bench ratio --report build/ratio.json

[Benchmarks](benchmarks.md) describes the method and explains single rows. A figure is holdfast's
divided by the limit's in the same pair, unless its unit says otherwise; the median of the pairs
counts. *others* is the part of the machine that other programs used.

```
{heading(run)}
```
"""
    for title, folders in SECTIONS.items():
        names = [name for name in bars if name.split("/")[0] in folders]
        text += section(title, names, bars, measured)
    return text


def filled(text, measured, bars):
    """Fills the last cell of each line of a table that begins with the name of a row."""
    def fill(match):
        name = match[2]
        if name not in bars:
            return match[0]
        row = measured.get(name, {})
        return f"{match[1]}{name}{match[3]}| {in_words(row)} |"

    return re.sub(r"^(\| `?)([a-z]+/[a-z0-9-]+)(`? \|.*)\|[^|\n]*\|$", fill, text, flags=re.M)


STYLE = """
  .ground { fill: #ffffff } text { fill: #1f2328; font: 13px system-ui, sans-serif }
  .quiet { fill: #59636e; font-size: 12px } .grid { stroke: #d1d9e0 } .one { stroke: #1f2328 }
  .bar { fill: #3b78c2 } .range { stroke: #1f2328; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #14181f } text { fill: #e6edf3 } .quiet { fill: #9198a1 }
    .grid { stroke: #3d444d } .one { stroke: #e6edf3 } .bar { fill: #5b9be6 }
    .range { stroke: #e6edf3 }
  }
"""


def chart(run):
    rows = {row["name"]: row for row in run["rows"]}
    shown = [(label, rows[name]["figure"]) for name, label in CHART_ROWS.items()
             if is_measured(rows.get(name, {}))]
    left, right, top, step, width = 316, 70, 56, 26, 820
    height = top + step * len(shown) + 40
    low = math.floor(math.log10(min([f["min"] for _, f in shown], default=0.1)))
    high = math.ceil(math.log10(max([f["max"] for _, f in shown], default=10)))

    def x(value):
        part = (math.log10(value) - low) / (high - low)
        return round(left + part * (width - left - right), 1)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
           'aria-label="holdfast\'s rate divided by that of what it is compared with">',
           f"<style>{STYLE}</style>", f'<rect class="ground" width="{width}" height="{height}"/>',
           '<text x="16" y="24">holdfast\'s rate, divided by that of what it is compared with'
           '</text>',
           '<text class="quiet" x="16" y="42">Median and range of the pairs; logarithmic scale'
           '</text>']
    bottom = top + step * len(shown)
    for power in range(low, high + 1):
        at, kind = x(10.0 ** power), "one" if power == 0 else "grid"
        out.append(f'<line class="{kind}" x1="{at}" x2="{at}" y1="{top}" y2="{bottom}"/>')
        out.append(f'<text class="quiet" x="{at}" y="{bottom + 18}" text-anchor="middle">'
                   f"{10.0 ** power:g}</text>")
    for i, (label, f) in enumerate(shown):
        y = top + step * i
        begin, end = sorted((x(1), x(f["median"])))
        out.append(f'<text x="{left - 10}" y="{y + 17}" text-anchor="end">{label}</text>')
        out.append(f'<rect class="bar" x="{begin}" y="{y + 5}" width="{round(end - begin, 1)}" '
                   f'height="{step - 10}"/>')
        out.append(f'<line class="range" x1="{x(f["min"])}" x2="{x(f["max"])}" y1="{y + 13}" '
                   f'y2="{y + 13}"/>')
        out.append(f'<text x="{max(end, x(f["max"])) + 6}" y="{y + 17}">'
                   f'{plain(f["median"])}</text>')
    return "\n".join(out) + "\n</svg>\n"


def generated(root, run_file):
    """The files that the run fills, by their names."""
    run = json.loads(run_file.read_text(encoding="utf-8"))
    bars = tomllib.loads((root / "bench/bars.toml").read_text(encoding="utf-8"))
    unknown = [name for name in bars
               if not any(name.split("/")[0] in folders for folders in SECTIONS.values())]
    if unknown:
        raise ReportError("ratio_report.py has no section for " + ", ".join(unknown))
    measured = {row["name"]: row for row in run["rows"]}
    files = {PAGE: page(run, bars), CHART: chart(run)}
    for name in PAGES_WITH_TABLES:
        files[name] = filled((root / name).read_text(encoding="utf-8"), measured, bars)
    return files


def check(root):
    differing = [name for name, text in generated(root, root / RUN).items()
                 if not (root / name).exists() or
                 (root / name).read_text(encoding="utf-8") != text]
    for name in differing:
        print(f"{name} is not what {RUN} gives: run ./dev bench ratio --report {RUN}")
    return 1 if differing else 0


def write(root, run):
    files = generated(root, run)
    if run.resolve() != (root / RUN).resolve():
        shutil.copyfile(run, root / RUN)
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
        print("written: " + name)
    return 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("run", nargs="?", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    if options.check == bool(options.run):
        parser.error("give the results of a run, or --check")
    try:
        return check(options.root) if options.check else write(options.root, options.run)
    except OSError as e:
        print(f"ratio_report.py: {e.filename}: {e.strerror}", file=sys.stderr)
    except ReportError as e:
        print(f"ratio_report.py: {e}", file=sys.stderr)
    except (ValueError, KeyError, TypeError) as e:
        print(f"ratio_report.py: {options.run or RUN} is not what `ratio --out` writes "
              f"({type(e).__name__}: {e})", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
