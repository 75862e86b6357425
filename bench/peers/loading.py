"""Peers of bet's readers: the same work (ids mapped to 0..n-1, pairs sorted by user and item,
duplicates merged, row offsets), as people write it in Python. Prints the best of several runs in
milliseconds."""
import sys
import time

import numpy as np
import pandas as pd


def to_rows(users, items):
    """CSR of distinct pairs from integer codes."""
    num_items = int(items.max()) + 1
    keys = np.unique(users.astype(np.int64) * num_items + items)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(keys // num_items))])
    return offsets, keys % num_items


def load_lightgcn_text(folder):
    users, items = [], []
    for name in ("train.txt", "test.txt"):
        with open(f"{folder}/{name}") as lines:
            for line in lines:
                fields = line.split()
                row = [int(field) for field in fields[1:]]
                users.extend([int(fields[0])] * len(row))
                items.extend(row)
    _, users = np.unique(np.array(users), return_inverse=True)
    _, items = np.unique(np.array(items), return_inverse=True)
    return to_rows(users, items)


def load_csv(path):
    table = pd.read_csv(path, engine="c")
    users, _ = pd.factorize(table["user_id"], sort=True)
    items, _ = pd.factorize(table["item_id"], sort=True)
    return to_rows(users, items)


def main():
    name, path, repeats = sys.argv[1], sys.argv[2], int(sys.argv[3])
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        offsets, columns = globals()[name](path)
        best = min(best, time.perf_counter() - start)
    print(f"{1000 * best:.2f} {len(columns)}")


main()
