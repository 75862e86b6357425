#!/usr/bin/python3
"""python_costs.py BUILD [ROWS]: what Python adds. One call of Model.recommend on a model of six items, where the C++ below
it takes next to nothing; and data of ROWS interactions (20 million) from a DataFrame beside the same from a file.
Needs the Python package: PYTHONPATH=BUILD/python."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import timeit

import numpy as np
import pandas

import bet
from bet import _data

build = pathlib.Path(sys.argv[1])
rows = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000_000
print(f"# {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "toy.bet")
    subprocess.run([build / "bet_make_test_model", path], check=True)
    model = bet.Model.open(path)
    best = min(timeit.repeat(lambda: model.recommend("ann", 10), number=20_000, repeat=7)) / 20_000
    print(f"recommend_call_us {best * 1e6:.2f}")

    random = np.random.default_rng(1)
    users = random.integers(0, 300_000, rows)
    items = (random.zipf(1.3, rows) % 100_000)
    for kind, table in (
            ("integers", pandas.DataFrame({"user": users, "item": items})),
            ("strings", pandas.DataFrame({"user": ("u" + pandas.Series(np.arange(300_000)).astype(str))
                                          .to_numpy()[users],
                                          "item": ("i" + pandas.Series(np.arange(100_000)).astype(str))
                                          .to_numpy()[items]}))):
        file = os.path.join(folder, f"{kind}.csv")
        table.to_csv(file, index=False)
        for _ in range(3):
            start = time.perf_counter()
            data = _data.columns_of(table, {}).data(kind, [])
            from_table = time.perf_counter() - start
            start = time.perf_counter()
            text = subprocess.run([build / "bet", "data", "stats", file, "--json"], check=True,
                                  capture_output=True, text=True).stdout
            from_file = time.perf_counter() - start
            assert data.hash in text
            del data
            print(f"load_{kind}_s {from_table:.2f} file {from_file:.2f} "
                  f"beyond {from_table - from_file:+.2f}", flush=True)
        os.remove(file)
