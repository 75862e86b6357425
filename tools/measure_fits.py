#!/usr/bin/env python3
"""Makes many runs of `bet fit` side by side, and writes one JSON line for each.

  tools/measure_fits.py BET DATA_FOLDER OUT.jsonl DEVICE JOBS SECONDS GROUP...

Runs what OUT.jsonl does not have yet, JOBS at a time and each with one thread, a first seed everywhere before the
second anywhere. A run that fails is reported, and the others are made. After SECONDS the runs that have not ended are
killed; the same command makes them later. DATA_FOLDER has the layout of ../shared/data; BET generates the synthetic
sets, and gowalla-2000 and yelp2018-2000 are the first 2,000 users of their set. COMMIT in the environment is written to
every line, by default that of the working tree.
tools/make_results.py makes the tables of the documentation from these lines.
"""
import concurrent.futures
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

# Users, items, interactions, clusters, seed of `bet data synth`.
SYNTHETIC = {"synth-a": (1000, 800, 20000, 8, 21), "synth-b": (4000, 1000, 60000, 20, 22),
             "synth-c": (1500, 6000, 90000, 12, 23), "synth-d": (6000, 3000, 250000, 30, 24),
             "synth-e": (800, 2500, 30000, 6, 31), "synth-f": (3000, 3000, 45000, 15, 32),
             "synth-g": (2500, 700, 120000, 10, 33), "synth-h": (8000, 5000, 160000, 40, 34)}
# FIRST: rules for lengths and rates were chosen on them; FRESH: others that test the rules.
FIRST = ("demo", "ml-100k", "ml-latest-small", "synth-a", "synth-b", "synth-c", "synth-d")
FRESH = ("gowalla-2000", "yelp2018-2000", "synth-e", "synth-f", "synth-g", "synth-h")
LARGE = ("gowalla", "yelp2018")
BACKBONES = ("lightgcn", "mf", "ncf", "ngcf")
BUDGETS = ("5%", "10%", "20%")
OF_BYTES = ("5%B", "2%B", "1%B", "0.5%B")
FULL_AND_EQUAL = (("full", ""), ("es", "10%"))
BOTH = ("bpr", "auto")

KEY = ("data", "backbone", "method", "budget", "effort", "loss", "seed")


def runs(datasets, backbones, plans, losses, seeds, effort=""):
    """Keys of runs; `plans` are pairs of a method and a budget, `seeds` their number or a range."""
    return [(data, backbone, method, budget, effort, loss, seed)
            for seed in (range(1, seeds + 1) if isinstance(seeds, int) else seeds)
            for method, budget in plans for loss in losses for backbone in backbones for data in datasets]


def at_each_budget(*methods, budgets=BUDGETS):
    return tuple((method, budget) for method in methods for budget in budgets)


EQUAL, FOUND = (("es", "10%"),), (("bet", "10%"),)
RULES = at_each_budget("sided", "es", "frequency")
GROUPS = {
    "lengths": runs(FIRST, BACKBONES, FULL_AND_EQUAL, ("bpr",), 5),
    "lengths-fresh": runs(FRESH, BACKBONES, FULL_AND_EQUAL, ("bpr",), 5),
    "quick": runs(FIRST, BACKBONES, EQUAL, ("bpr",), 5) + runs(FIRST, BACKBONES, FOUND, ("bpr",), 5, "quick"),
    "quick-fresh": runs(FRESH, BACKBONES, EQUAL, ("bpr",), 3) + runs(FRESH, BACKBONES, FOUND, ("bpr",), 3, "quick"),
    "loss-small": runs(FIRST, ("lightgcn", "mf", "ncf"), FULL_AND_EQUAL, BOTH, 3),
    "loss-small-ngcf": runs(FIRST, ("ngcf",), FULL_AND_EQUAL, BOTH, 3),
    "loss-full": runs(LARGE, ("lightgcn",), (("full", ""),), BOTH, 3),
    "loss-lightgcn": runs(LARGE, ("lightgcn",), (("full", ""), *at_each_budget("es", "sided")), BOTH, 3),
    "auto-lightgcn": runs(LARGE, ("lightgcn",), (("full", ""), *at_each_budget("sided", "es")), ("auto",), 3),
    "auto-small": runs(FIRST, BACKBONES, FULL_AND_EQUAL, ("auto",), 3),
    "loss-other": runs(LARGE, ("mf", "ncf", "ngcf"), FULL_AND_EQUAL, BOTH, 3),
    "search": runs(LARGE, ("lightgcn",), at_each_budget("bet"), ("auto",), 5),
    "search-bpr": runs(LARGE, ("lightgcn",), at_each_budget("bet"), ("bpr",), 5),
    "search-yelp2018": runs(("yelp2018",), ("lightgcn",), (("bet", "10%"), ("bet", "20%")), ("auto",), 5),
    "search-fresh": runs(FRESH, ("lightgcn",), tuple((method, "10%") for method in ("bet", "sided", "es", "frequency")),
                         ("auto",), 3),
    "bytes": runs(LARGE, ("lightgcn",), at_each_budget("bet", budgets=OF_BYTES), ("auto",), 3),
    "rules": runs(LARGE, ("lightgcn",), RULES, ("auto",), 5),
    "ncf": runs(LARGE, ("ncf",), (*at_each_budget("bet"), *RULES), ("auto",), 3),
    "ngcf": runs(LARGE, ("ngcf",), (*at_each_budget("bet"), *RULES), ("auto",), 3),
}


def key_of(line):
    return tuple(line.get(name, "") for name in KEY)


def read(path):
    path = pathlib.Path(path)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def source(bet, folder, work, name):
    """The path of a data set; those that are no files of DATA_FOLDER are written to `work`."""
    if name in SYNTHETIC:
        options = ("--users", "--items", "--interactions", "--clusters", "--seed")
        subprocess.run([bet, "data", "synth", f"{work}/{name}.csv",
                        *(word for pair in zip(options, map(str, SYNTHETIC[name])) for word in pair)],
                       check=True, capture_output=True)
        return f"{work}/{name}.csv"
    if name.endswith("-2000"):
        pairs = []
        for part in ("train", "test"):
            for line in pathlib.Path(folder, name[:-5], f"{part}.txt").read_text().splitlines():
                user, *items = line.split()
                pairs += [f"{user},{item}" for item in items if int(user) < 2000]
        pathlib.Path(work, f"{name}.csv").write_text("user,item\n" + "\n".join(pairs) + "\n")
        return f"{work}/{name}.csv"
    return {"demo": "demo", "ml-100k": f"{folder}/ml-100k/u.data",
            "ml-latest-small": f"{folder}/ml-latest-small/ratings.csv"}.get(name, f"{folder}/{name}")


def options_of(key):
    _, backbone, method, budget, effort, loss, seed = key
    return ["--method", method, *(["--budget", budget] if budget else []), *(["--effort", effort] if effort else []),
            *([] if loss == "auto" else ["--loss", loss]), "--backbone", backbone, "--seed", str(seed)]


def loss_text(loss):
    """As the tables name it: `softmax 0.14, cosine, rate 0.5`."""
    words = ["BPR" if loss["kind"] == "bpr" else f"softmax {loss['temperature']:.2g}"]
    if loss["score"] != "dot":
        words.append(loss["score"])
    if loss.get("rate", 1) != 1:
        words.append(f"rate {loss['rate']:.2g}")
    return ", ".join(words)


def measure(bet, path, key, device, seconds):
    """The line of a run, or None if it took more than `seconds`; and what the search measured."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            result = subprocess.run(
                [bet, "fit", path, *options_of(key), "--device", device, "--threads", "1", "--cache", f"{folder}/cache",
                 "--out", f"{folder}/run", "--quiet", "--json"], capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return None, None
    if result.returncode != 0:
        raise RuntimeError(result.stderr)
    report = json.loads(result.stdout)
    line = dict(zip(KEY, key))
    if "loss" in report:
        line["chosen"] = loss_text(report["loss"])
    if isinstance(report.get("chosen"), dict):
        line["plan"] = report["chosen"].get("plan", "")
    for name, part in (("validation", "validation"), ("recall", "test")):
        line[name] = round(report[part]["recall@20"], 5)
    line |= {"ndcg": round(report["test"]["ndcg@20"], 5), "steps": report["steps"], "trainings": report["trainings"],
             "command": " ".join(["bet fit", key[0], *options_of(key), "--device", device]),
             "commit": os.environ["COMMIT"], "date": datetime.date.today().isoformat()}
    return line, {**dict(zip(KEY, key)), "seconds": report["seconds"], "trials": report["trials"]}


def main():
    if len(sys.argv) < 8 or any(group not in GROUPS for group in sys.argv[7:]):
        sys.exit(f"{__doc__}\nGROUP: {', '.join(GROUPS)}")
    bet, folder, out, device, jobs, seconds, *groups = sys.argv[1:]
    end = time.monotonic() + float(seconds)
    if "COMMIT" not in os.environ:
        os.environ["COMMIT"] = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True,
                                              check=True).stdout.strip()
    wanted = sorted((key for group in groups for key in GROUPS[group]), key=lambda key: key[-1])
    done = set(map(key_of, read(out)))
    keys = [key for key in dict.fromkeys(wanted) if key not in done]
    lock = threading.Lock()
    ended = 0
    with tempfile.TemporaryDirectory() as work:
        paths = {name: source(bet, folder, work, name) for name in dict.fromkeys(key[0] for key in keys)}

        def make(key):
            nonlocal ended
            left = end - time.monotonic()
            try:
                line, search = measure(bet, paths[key[0]], key, device, left) if left > 0 else (None, None)
            except (RuntimeError, KeyError, ValueError) as error:
                print(f"{key}: {error!r}", file=sys.stderr)
                return
            if line is None:
                return
            with lock:
                ended += 1
                with open(out, "a") as file:
                    file.write(json.dumps(line) + "\n")
                if search["trials"]:
                    with open(f"{out}.trials", "a") as file:
                        file.write(json.dumps(search) + "\n")
                print(f"{ended} of {len(keys)} runs, {end - time.monotonic():.0f} s left", file=sys.stderr)

        with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
            for _ in pool.map(make, keys):
                pass
    sys.exit(0 if ended == len(keys) else 1)


if __name__ == "__main__":
    main()
