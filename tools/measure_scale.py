#!/usr/bin/env python3
"""Measures what the phases of a run take on made-up data of several sizes, and what several processes gain.

  tools/measure_scale.py PROGRAMS WORK OUT.jsonl [--millions 1 2 4 8] [--per-user 20] [--items 20000]
                         [--fit "--method es --budget 25%"]... [--steps 6] [--device cpu]
                         [--ranks 1 2 4] [--search "--effort thorough"]...

PROGRAMS is a folder with `bet` and `bet-serve`. For each size, in millions of interactions, and each --fit a
line of OUT has the seconds and the peak memory of

  read      `bet data stats`: reads and splits, as `load` of the fit does
  fit       load, a step, a measurement on validation, export: of its report.json
  export    `bet export --serving materialised`, which reads the data again
  serve     `bet-serve recommend` for one user by table and graph, and for 1,000 by these vectors

With --ranks a line for each number of single-threaded processes, and each --search, has `seconds.search` of one
search on data of the size of MovieLens 100k, and `trained`, the seconds of its trainings on all ranks. Data and
runs are removed once they are measured. tools/make_results.py makes docs/scale.svg and tables from
docs/results/scale.jsonl and ranks.jsonl.
"""
import argparse
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

FITS = ("--method es --budget 6.25%", "--method es --budget 25%")
USERS_AT_ONCE = 1_000
SEARCH_DATA = ["--users", "943", "--items", "1682", "--interactions", "100000"]  # of MovieLens 100k
SEARCH = ["--budget", "5%", "--threads", "1", "--quiet"]


def run(command, **more):
    """Seconds and peak bytes of a program that must succeed."""
    start = time.monotonic()
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, **more)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {status}")
    return {"seconds": round(time.monotonic() - start, 3), "peak_rss_bytes": usage.ru_maxrss * 1024}


class Study:
    def __init__(self, arguments):
        self.asked = arguments
        self.bet, self.serve = arguments.programs / "bet", arguments.programs / "bet-serve"
        self.work = arguments.work
        self.work.mkdir(parents=True, exist_ok=True)

    def add(self, line):
        line |= {"load_average": round(os.getloadavg()[0], 1), "cores": len(os.sched_getaffinity(0))}
        with self.asked.out.open("a") as out:
            out.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)

    def size(self, millions):
        interactions = round(1e6 * millions)
        data = self.work / f"{millions:g}-million.csv"
        made = run([self.bet, "data", "synth", data, "--users", interactions // self.asked.per_user,
                    "--items", self.asked.items, "--interactions", interactions])
        about = {"millions": millions, "file_bytes": data.stat().st_size, "made": made,
                 "read": run([self.bet, "data", "stats", data])}
        for fit in self.asked.fit or FITS:
            self.fit(data, fit, dict(about))
        data.unlink()

    def fit(self, data, fit, line):
        folder = self.work / "run"
        steps = str(self.asked.steps)
        options = [*fit.split(), "--loss", "bpr", "--max-steps", steps, "--measure-steps", steps, "--device", self.asked.device]
        whole = run([self.bet, "fit", data, *options, "--quiet", "--overwrite", "--out", folder])
        report = json.loads((folder / "report.json").read_text())
        model, vectors, users = folder / "model.bet", folder / "vectors.bet", self.work / "users.txt"
        users.write_text("".join(f"{user}\n" for user in range(USERS_AT_ONCE)))
        line |= {"command": ["fit", *options], "commit": report["versions"].get("commit", "not known"), "fit": whole,
                 "train": report["dataset"]["split"]["train"], "users": report["dataset"]["users"],
                 "items": report["dataset"]["items"], "params": report["used"]["params"],
                 "model_bytes": report["used"]["file_bytes"],
                 **{key: report[key] for key in ("seconds", "milliseconds", "steps", "device", "threads", "peak_rss_bytes")},
                 "serve_one": run([self.serve, "recommend", model, "--user", "1"]),
                 "export": run([self.bet, "export", folder, "--serving", "materialised", "--out", vectors]),
                 "serve_many": run([self.serve, "recommend", vectors, "--users", users, "--out", self.work / "answers.jsonl"])}
        self.add(line)
        shutil.rmtree(folder)

    def search(self, size, options):
        data = self.work / "search.csv"
        if not data.exists():
            run([self.bet, "data", "synth", data, *SEARCH_DATA])
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        folder = self.work / f"search-{size}"
        options = [*SEARCH, *options.split()]
        cache = self.work / "cache"
        command = [self.bet, "fit", data, *options, "--overwrite", "--out", folder, "--cache", cache]
        ranks = [subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL,
                                  env=os.environ | {"RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1",
                                                    "MASTER_PORT": str(port)}) for rank in range(size)]
        if any([process.wait() for process in ranks]):
            sys.exit(f"a search by {size} processes failed")
        report = json.loads((folder / "report.json").read_text())
        self.add({"ranks": size, "command": ["fit", *options], "commit": report["versions"].get("commit", "not known"),
                  "trainings": report["trainings"]["search"], "seconds": report["seconds"], "test": report["test"],
                  "trained": sum(trial["seconds"] for trial in report["trials"]), "plan": report["chosen"]["plan"]})
        shutil.rmtree(folder)
        shutil.rmtree(cache, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--millions", type=float, nargs="*", default=[])
    parser.add_argument("--per-user", type=int, default=20, help="interactions for each user")
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--fit", action="append", help="options of a fit")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--ranks", type=int, nargs="*", default=[])
    parser.add_argument("--search", action="append", help="options of a search by these ranks")
    study = Study(parser.parse_args())
    for millions in study.asked.millions:
        study.size(millions)
    for options in study.asked.search or [""]:
        for size in study.asked.ranks:
            study.search(size, options)


if __name__ == "__main__":
    main()
