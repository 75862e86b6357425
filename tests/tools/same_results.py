#!/usr/bin/env python3
"""Compares two builds: the same seeds must give the same reports, model files and scores.

    tests/tools/same_results.py OLD_BUILD NEW_BUILD [--methods es,pep] [--backbones mf,ncf]

Each build is a folder with `bet` and `bet-serve`. Every method is fitted with every backbone on the
demo data by both. Then the old run folders and model files are given to the new programs: they must
open, and measure, export and recommend as before. Last, a run that the old program left in its final
training is resumed by the new one. For changes that must not change behaviour.
"""
import argparse
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

METHODS = "es mr sided frequency magnitude pep esapn optembed ciess full".split()
BACKBONES = "mf lightgcn ngcf ncf".split()
# What depends on the machine or on the build, and not on the run.
NOT_COMPARED = {"seconds", "milliseconds", "peak_rss_bytes", "versions"}
WITHOUT_BUDGET = {"full", "optembed"}


def run(*line):
    done = subprocess.run([str(word) for word in line], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, line))}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def options(build, method, backbone):
    line = ["demo", "--quiet", "--method", method, "--backbone", backbone, "--effort", "quick",
            "--dim", "32", "--max-steps", "32"]
    if "--loss" in run(build / "bet", "fit", "--help"):
        line += ["--loss", "bpr"]  # all that there was before the option
    if method not in WITHOUT_BUDGET:
        line += ["--budget", "20%"]
    if method == "ciess":
        line += ["--iterations", "4"]
    return line


def figures(folder):
    """The report without what no two runs have in common."""
    def strip(value):
        if isinstance(value, dict):
            return {key: strip(one) for key, one in value.items() if key not in NOT_COMPARED}
        return [strip(one) for one in value] if isinstance(value, list) else value
    return strip(json.loads((folder / "report.json").read_text()))


def without_added(new, old):
    """What `new` has of the keys of `old`: reports may get others."""
    if isinstance(new, dict) and isinstance(old, dict):
        return {key: without_added(one, old[key]) for key, one in new.items() if key in old}
    if isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        return [without_added(*pair) for pair in zip(new, old)]
    return new


def config(folder):
    lines = (folder / "config.toml").read_text().splitlines()
    # What was done before there was an option is written since there is one.
    added = ("loss = \"bpr\"", "score = \"dot\"")
    return [line for line in lines if not line.startswith("cache") and line not in added]


def compare(old_build, new_build, method, backbone, work):
    """The differences, as texts."""
    found = []
    old, new = work / "old", work / "new"
    for build, folder in ((old_build, old), (new_build, new)):
        run(build / "bet", "fit", *options(build, method, backbone), "--out", folder,
            "--cache", work / f"cache-{folder.name}")
    def check(what, same):
        if not same:
            found.append(what)
    check("report", figures(old) == without_added(figures(new), figures(old)))
    check("config", config(old) == config(new))
    check("identity", (old / "identity.txt").read_bytes() == (new / "identity.txt").read_bytes())
    check("model file", (old / "model.bet").read_bytes() == (new / "model.bet").read_bytes())
    measured = [run(build / "bet", "evaluate", old / "model.bet", "demo", "--json")
                for build in (old_build, new_build)]
    check("evaluate of the old file", measured[0] == measured[1])
    served = [run(build / "bet-serve", "recommend", old / "model.bet", "--user", "17", "--json")
              for build in (old_build, new_build)]
    check("scores of the old file", served[0] == served[1])
    exported = []
    for build in (old_build, new_build):
        out = work / "exported.bet"
        run(build / "bet", "export", old, "--precision", "int8", "--serving", "materialised",
            "--out", out)
        exported.append(out.read_bytes())
    check("export of the old run", exported[0] == exported[1])
    resumed = [json.loads(run(build / "bet", "resume", old, "--quiet", "--json"))
               for build in (old_build, new_build)]
    check("resume of the old run", resumed[0] == without_added(resumed[1], resumed[0]))
    return found


def compare_interrupted(old_build, new_build, work):
    """The differences between a whole run and one that the new program resumes in its final training."""
    # Slow enough a final training, some seconds, to be met by a signal.
    whole, left = work / "whole", work / "left"

    def line(out):  # each with a cache of its own: what one run knows of losses the other would not try
        return ["fit", "demo", "--method", "es", "--budget", "20%", "--backbone", "ngcf", "--max-steps", "48",
                "--cache", f"{out}-cache", "--out", out]

    run(old_build / "bet", *line(whole), "--quiet")
    process = subprocess.Popen([str(word) for word in (old_build / "bet", *line(left))],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for text in process.stderr:
        if "choice of the loss 100" in text:
            time.sleep(0.5)
            process.send_signal(signal.SIGTERM)
            break
    process.communicate()
    if (left / "model.bet").exists():
        return ["was over before the signal came"]
    run(new_build / "bet", "resume", left, "--quiet")
    same = (whole / "model.bet").read_bytes() == (left / "model.bet").read_bytes()
    reports = figures(whole) == without_added(figures(left), figures(whole))
    return [] if same and reports else ["another model"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--backbones", default=",".join(BACKBONES))
    arguments = parser.parse_args()
    bad = 0

    def tell(what, compare_in):
        nonlocal bad
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = compare_in(pathlib.Path(folder))
            except RuntimeError as error:
                found = [str(error)]
        bad += bool(found)
        print(f"{what}: {'; '.join(found) if found else 'the same'}", flush=True)

    for backbone in arguments.backbones.split(","):
        for method in arguments.methods.split(","):
            tell(f"{method} {backbone}",
                 lambda work, m=method, b=backbone: compare(arguments.old, arguments.new, m, b, work))
    tell("resumed in its final training", lambda work: compare_interrupted(arguments.old, arguments.new, work))
    print(f"{bad} of the comparisons differ" if bad else "all the same")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
