"""NGCF's and NeuMF's peers on the CPU. Reads what bet_peer_export wrote.

  dense.py ngcf|ncf DIR THREADS      milliseconds a step, own sampling and Adam included
  dense.py ranking DIR THREADS       milliseconds of NeuMF's top 20 of every user; some are ranked,
                                     and the time is scaled
"""
import sys
import time
import warnings

import numpy as np
import torch

from backbones import NeuMf, Ngcf, looped_edges, make_step
from lightgcn import Data

warnings.filterwarnings("ignore")
WIDTH = 128
RANKED = 48  # users


def best_time(work, repeats, count):
    work()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(count):
            work()
        best = min(best, (time.perf_counter() - start) / count)
    return 1000 * best


def main():
    what, folder, threads = sys.argv[1:4]
    torch.set_num_threads(int(threads))
    data = Data(folder, WIDTH)
    if what == "ranking":
        model = NeuMf(data, WIDTH)
        users = np.linspace(0, data.users - 1, RANKED).astype(int)
        data.item = torch.from_numpy(data.item)
        print(f"{best_time(lambda: model.rank(users), 2, 1) * data.users / RANKED:.2f}")
    elif what == "ncf":
        print(f"{best_time(make_step(NeuMf(data, WIDTH), data.sample), 3, 4):.2f}")
    else:
        rows = np.concatenate([data.user, data.item + data.users])
        columns = np.concatenate([data.item + data.users, data.user])
        data.looped = looped_edges(torch.from_numpy(rows), torch.from_numpy(columns), data.nodes)
        times = [best_time(make_step(Ngcf(data, WIDTH, layout), data.sample), 2, 2)
                 for layout in ("COO", "CSR")]
        print(f"{min(times):.2f}")


main()
