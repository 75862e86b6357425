#!/usr/bin/env python3
"""Trains every backbone on small data sets with five seeds, and writes one JSON line for each run.

  tools/measure_lengths.py run BET DATA_FOLDER OUT.jsonl GROUP [DEVICE [JOBS]]   runs what OUT does not have yet

GROUP: `first`, the data sets on which the rule for the length of a schedule was chosen, or `fresh`, others that
test it. DATA_FOLDER has the layout of ../shared/data; BET generates the synthetic sets, and gowalla-2000 and
yelp2018-2000 are the first 2,000 users of their set. JOBS runs are made at a time (default 1), each with one thread.
tools/make_results.py makes the tables of the documentation from these lines.
"""
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
import threading

# Users, items, interactions, clusters, seed of `bet data synth`.
SYNTHETIC = {"synth-a": (1000, 800, 20000, 8, 21), "synth-b": (4000, 1000, 60000, 20, 22),
             "synth-c": (1500, 6000, 90000, 12, 23), "synth-d": (6000, 3000, 250000, 30, 24),
             "synth-e": (800, 2500, 30000, 6, 31), "synth-f": (3000, 3000, 45000, 15, 32),
             "synth-g": (2500, 700, 120000, 10, 33), "synth-h": (8000, 5000, 160000, 40, 34)}
GROUPS = {"first": ("demo", "ml-100k", "ml-latest-small", "synth-a", "synth-b", "synth-c", "synth-d"),
          "fresh": ("gowalla-2000", "yelp2018-2000", "synth-e", "synth-f", "synth-g", "synth-h")}
BACKBONES = ("lightgcn", "mf", "ncf", "ngcf")
METHODS = {"full": ["--method", "full"], "es": ["--method", "es", "--budget", "10%"],
           "bet": ["--method", "bet", "--budget", "10%", "--effort", "quick"]}
SEEDS = (1, 2, 3, 4, 5)
KEY = ("data", "backbone", "method", "seed")


def read(path):
    path = pathlib.Path(path)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def source(bet, folder, work, name):
    """The path of a data set; those that are no files of DATA_FOLDER are written to `work`."""
    if name in SYNTHETIC:
        options = ("--users", "--items", "--interactions", "--clusters", "--seed")
        subprocess.run([bet, "data", "synth", f"{work}/{name}.csv",
                        *(word for pair in zip(options, map(str, SYNTHETIC[name])) for word in pair)],
                       check=True)
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
            "ml-latest-small": f"{folder}/ml-latest-small/ratings.csv"}[name]


def run_one(bet, source, key, device):
    data, backbone, method, seed = key
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            [bet, "fit", source, *METHODS[method], "--loss", "bpr", "--backbone", backbone, "--seed", str(seed), "--device",
             device, "--threads", "1", "--cache", f"{folder}/cache", "--out", f"{folder}/run", "--quiet",
             "--json"], capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(f"{key}: {result.stderr}")
    report = json.loads(result.stdout)
    return {**dict(zip(KEY, key)), "recall": round(report["test"]["recall@20"], 5),
            "ndcg": round(report["test"]["ndcg@20"], 5), "steps": report["steps"]}


def run(bet, folder, out, group, device="cpu", jobs="1"):
    done = {tuple(line[name] for name in KEY) for line in read(out)}
    keys = [(data, backbone, method, seed) for method in METHODS for seed in SEEDS
            for backbone in BACKBONES for data in GROUPS[group]]
    lock = threading.Lock()
    with tempfile.TemporaryDirectory() as work:
        paths = {name: source(bet, folder, work, name) for name in GROUPS[group]}

        def measure(key):
            line = run_one(bet, paths[key[0]], key, device)
            with lock, open(out, "a") as file:
                file.write(json.dumps(line) + "\n")

        with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
            for _ in pool.map(measure, [key for key in keys if key not in done]):
                pass


def main():
    if len(sys.argv) in (6, 7, 8) and sys.argv[1] == "run" and sys.argv[5] in GROUPS:
        run(*sys.argv[2:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
