#!/usr/bin/python3
"""batch_recommend.py DATA [REPEATS]: the top 20 of every user, seen items left out: bet's recommend_all beside the way of
implicit in NumPy (a matrix product and argpartition, in batches of users) on the same vectors, one after the other in
one run. Needs the Python package: PYTHONPATH=build/release/python. Prints a line for each form of file and repeat:
`form ours_s numpy_s ratio`."""
import os
import resource
import sys
import tempfile
import time

import numpy as np

import bet

K = 20
BATCH = 1024


def in_numpy(users, items, seen, k):
    """implicit's cpu_model.recommend for all users, with NumPy's argpartition for its own."""
    all_ids, all_scores = [], []
    indptr, indices = seen
    for first in range(0, len(users), BATCH):
        scores = users[first:first + BATCH] @ items.T
        count = len(scores)
        lengths = indptr[first + 1:first + count + 1] - indptr[first:first + count]
        rows = np.repeat(np.arange(count), lengths)
        scores[rows, indices[indptr[first]:indptr[first + count]]] = -np.inf
        best = np.argpartition(-scores, k, axis=1)[:, :k]
        of_best = np.take_along_axis(scores, best, axis=1)
        order = np.argsort(-of_best, axis=1, kind="stable")
        all_ids.append(np.take_along_axis(best, order, axis=1))
        all_scores.append(np.take_along_axis(of_best, order, axis=1))
    return np.concatenate(all_ids), np.concatenate(all_scores)


def seen_rows(model):
    place = {item: row for row, item in enumerate(model.item_ids.tolist())}
    lists = [[place[item] for item in model.seen(user).tolist()] for user in model.user_ids]
    return np.cumsum([0] + [len(one) for one in lists]), np.array(sum(lists, []), dtype=np.int64)


def measure(form, model, repeats):
    users, items = np.array(model.user_vectors()), np.array(model.item_vectors())
    seen = seen_rows(model)
    for _ in range(repeats):
        start = time.perf_counter()
        ids, scores = model.recommend_all(K)
        ours = time.perf_counter() - start
        start = time.perf_counter()
        places, peer_scores = in_numpy(users, items, seen, K)
        peer = time.perf_counter() - start
        print(f"{form} {ours:.2f} {peer:.2f} {peer / ours:.2f}", flush=True)
    worst = np.abs(scores - peer_scores).max() / np.abs(scores).max()
    same = (model.item_ids[places] == ids).mean()
    print(f"# {form}: {same:.5f} of the items are the same in the same place, scores differ by "
          f"{worst:.1e} of the largest", flush=True)
    if worst > 1e-5:
        sys.exit("batch_recommend: the two sides do not rank the same vectors")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        model.recommend_all(K, os.path.join(folder, "top.csv"))
        size = os.path.getsize(os.path.join(folder, "top.csv"))
        print(f"# {form}: to a CSV of {size / 1e6:.0f} MB in {time.perf_counter() - start:.2f} s")
    print(f"# the peak of resident memory grew by "
          f"{(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024:.0f} MiB meanwhile")


def main():
    data, repeats = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    common = dict(backbone="lightgcn", serving="materialised", loss="bpr", max_steps=40,
                  progress=False)
    print(f"# {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, NumPy {np.__version__}")
    measure("fp32", bet.fit(data, method="full", **common).model, repeats)
    measure("int8", bet.fit(data, method="full", precision="int8", **common).model, repeats)


main()
