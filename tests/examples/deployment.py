#!/usr/bin/env python3
# deployment.py HOLDFAST FOLDER: systemd and a YAML parser accept the files in FOLDER, HOLDFAST
# accepts the commands in them, and docs/metrics.md lists the metrics of the alerts. Prints what is
# wrong; exit code 1 if anything is.
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

problems = []


def report(file, text):
    problems.append(f"{file.name}: {text}")


def run(command, **environment):
    return subprocess.run(command, env={**os.environ, **environment}, timeout=60,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)


def check_command(file, holdfast, words):
    """Runs `true` in the place of the command, with the locks in a directory."""
    if os.path.basename(words[0]) != "holdfast" or "--" not in words:
        report(file, "is no command of holdfast: " + " ".join(words))
        return
    with tempfile.TemporaryDirectory(prefix="holdfast-deployment-") as locks:
        line = [holdfast] + words[1:words.index("--") + 1] + ["true"]
        done = run(line, HOLDFAST_URL="file://" + locks)
        if done.returncode != 0:
            report(file, done.stdout)


def check_url(file, holdfast, url):
    """`schema` parses a URL, reads its password and connects to nothing."""
    with tempfile.NamedTemporaryFile("w", prefix="holdfast-password-") as password:
        password.write("secret\n")
        password.flush()
        url = re.sub("password-file=[^&]*", "password-file=" + password.name, url)
        done = run([holdfast, "schema", "--url", url], REDIS_PASSWORD="secret")
    if "need no tables" not in done.stdout:
        report(file, done.stdout)


def verify_units(folder):
    if not shutil.which("systemd-analyze"):
        print("skipped: systemd-analyze is not installed")
        return
    with tempfile.TemporaryDirectory(prefix="holdfast-units-") as copies:
        names = []
        for unit in sorted(folder.iterdir()):
            text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", unit.read_text(), flags=re.M)
            copy = pathlib.Path(copies, unit.name)
            copy.write_text(text)
            names.append(str(copy))
        done = run(["systemd-analyze", "verify", "--man=no", *names])
        about_ours = [line for line in done.stdout.splitlines()
                      if re.search(r"(nightly|worker)\.(service|timer)", line)]
        if about_ours:
            report(folder, "\n".join(about_ours))


def check_units(folder, holdfast):
    for unit in folder.glob("*.service"):
        text = unit.read_text()
        for command in re.findall(r"^ExecStart=(.*)$", text, re.M):
            check_command(unit, holdfast, shlex.split(command))
        for url in re.findall(r'^Environment="?HOLDFAST_URL=([^"\n]*)', text, re.M):
            check_url(unit, holdfast, url)


def check_crontab(file, holdfast):
    for line in file.read_text().splitlines():
        entry = re.fullmatch(r"(?:[-*/,\d]+ +){5}\w+ +(.*)", line)
        if entry:
            check_command(file, holdfast, shlex.split(entry[1]))
        elif line.startswith("HOLDFAST_URL="):
            check_url(file, holdfast, line.split("=", 1)[1])
        elif line and not line.startswith("#"):
            report(file, "is no line of a crontab: " + line)


def pod_of(resource):
    spec = resource["spec"]
    if resource["kind"] == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    return spec["template"]["spec"]


def check_resources(file, holdfast):
    try:
        import yaml
    except ImportError:
        print("skipped: the module yaml of Python is not installed")
        return
    for resource in yaml.safe_load_all(file.read_text()):
        for container in pod_of(resource)["containers"]:
            check_command(file, holdfast, container["command"])
            for variable in container["env"]:
                if variable["name"] == "HOLDFAST_URL":
                    check_url(file, holdfast, variable["value"])


def check_alerts(file, page):
    try:
        import yaml
    except ImportError:
        return  # reported by check_resources()
    metrics = set(re.findall(r"^\| `(holdfast_[a-z_]+)` \|", page.read_text(), re.M))
    for group in yaml.safe_load(file.read_text())["groups"]:
        for rule in group["rules"]:
            used = {re.sub("_(bucket|sum|count)$", "", name)
                    for name in re.findall(r"holdfast_[a-z_]+", rule["expr"])}
            unknown = used - metrics
            if not used or unknown or not rule["alert"] or not rule["annotations"]["summary"]:
                report(file, f"{rule['alert']} uses {unknown or 'no metric'}")


def main(holdfast, folder):
    folder = pathlib.Path(folder)
    verify_units(folder / "systemd")
    check_units(folder / "systemd", holdfast)
    check_crontab(folder / "cron" / "nightly", holdfast)
    for file in sorted((folder / "kubernetes").glob("*.yaml")):
        check_resources(file, holdfast)
    check_alerts(folder / "prometheus" / "holdfast.rules.yaml",
                 folder.parent.parent / "docs" / "metrics.md")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
