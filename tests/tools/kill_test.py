#!/usr/bin/env python3
"""Kills `bet fit` at random points and has two processes work on one folder: nothing may be lost or mixed.

    tests/tools/kill_test.py BUILD [--kills 50] [--pairs 20] [--seed 1]

BUILD is a folder with `bet`. Each killed run (kill -9) is resumed, or begun anew if it had not made its
folder yet, and must end with the model file and the figures of a run that nobody killed. Of two runs with
other seeds that are started into one folder, the folder must hold one whole, and the other must have ended
with an error; two that resume one run must leave what one leaves.
"""
import argparse
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from same_results import figures

OPTIONS = ["demo", "--quiet", "--budget", "10%", "--effort", "quick", "--iterations", "4", "--dim", "16",
           "--max-steps", "24", "--loss", "auto"]


class Programs:
    """`bet` with a cache of its own, which its runs share."""

    def __init__(self, build, work):
        self.bet = build / "bet"
        self.work = work

    def start(self, *words):
        return subprocess.Popen([str(word) for word in (self.bet, *words)], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def fit(self, folder, seed=1, *more):
        return self.start("fit", *OPTIONS, "--seed", seed, "--out", folder, "--cache", self.work / "cache", *more)

    def resume(self, folder):
        return self.start("resume", folder, "--quiet")


def end_of(process):
    """Exit code and message."""
    message = process.communicate()[1]
    return process.returncode, message


def outcome(folder):
    report = figures(folder)
    report.get("loss", {}).pop("trials", None)  # none where the cache knew the loss
    return report, (folder / "model.bet").read_bytes()


def reference(programs, seed):
    """The outcome of an undisturbed run, and its seconds."""
    folder = programs.work / f"reference-{seed}"
    start = time.monotonic()
    code, message = end_of(programs.fit(folder, seed))
    assert code == 0, message
    return outcome(folder), time.monotonic() - start


def kill_and_resume(programs, folder, delay):
    """How many times the run was killed before it ended, and its end."""
    process = programs.fit(folder)
    try:
        process.wait(delay)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    code, message = end_of(process)
    if code == 0:
        return "over before the kill", code, message
    how = "resumed"
    code, message = end_of(programs.resume(folder))
    if code != 0 and not (folder / "config.toml").exists():
        how = "begun anew"
        code, message = end_of(programs.fit(folder, 1, "--overwrite") if folder.exists() else programs.fit(folder))
    return how, code, message


def check_kills(programs, count, expected, seconds):
    bad = 0
    ways = {}
    for i in range(count):
        folder = programs.work / f"killed-{i}"
        delay = random.uniform(0, seconds)
        if i % 5 == 0:  # the pretrained model is made again, and its making killed as well
            for file in (programs.work / "cache").rglob("*"):
                if file.is_file():
                    file.unlink()
        how, code, message = kill_and_resume(programs, folder, delay)
        ways[how] = ways.get(how, 0) + 1
        good = code == 0 and outcome(folder) == expected
        bad += not good
        if not good:
            print(f"kill {i} after {delay:.2f} s, {how}: exit {code}: {message or 'another outcome'}", flush=True)
    print(f"{count} kills: {bad} bad; {ways}", flush=True)
    return bad


def check_pairs(programs, count, expected, seconds):
    bad = 0
    for i in range(count):
        folder = programs.work / f"pair-{i}"
        resuming = i % 2 == 1
        delay = random.uniform(0, seconds)
        if resuming:
            process = programs.fit(folder)
            time.sleep(delay)
            process.kill()
            process.communicate()
            if not (folder / "config.toml").exists():
                process = programs.fit(folder, 1, *(["--overwrite"] if folder.exists() else []))
                time.sleep(seconds / 2)
                process.kill()
                process.communicate()
            both = [programs.resume(folder), programs.resume(folder)]
        else:
            both = [programs.fit(folder, 1)]
            time.sleep(delay)
            both.append(programs.fit(folder, 2, *(["--overwrite"] if i % 4 == 0 else [])))
        ends = [end_of(process) for process in both]
        found = outcome(folder) if (folder / "model.bet").exists() else None
        # One of them, whole; a run that was over may be replaced or resumed by the other.
        winners = [j for j, end in enumerate(ends) if end[0] == 0]
        allowed = [expected[1]] if resuming else [expected[1 + j] for j in winners]
        good = bool(winners) and found in allowed and all(end[0] == 0 or end[1].strip() for end in ends)
        bad += not good
        if not good:
            print(f"pair {i} ({'resume' if resuming else 'fit'}) after {delay:.2f} s: {ends}", flush=True)
    print(f"{count} pairs: {bad} bad", flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(arguments.build.resolve(), pathlib.Path(folder))
        expected = {}
        expected[1], seconds = reference(programs, 1)
        expected[2], _ = reference(programs, 2)
        print(f"undisturbed: {seconds:.1f} s", flush=True)
        bad = check_kills(programs, arguments.kills, expected[1], seconds)
        bad += check_pairs(programs, arguments.pairs, expected, seconds)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
