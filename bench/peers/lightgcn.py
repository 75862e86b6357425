"""LightGCN in plain PyTorch, as its users write it: the peer of bet's training step and full ranking.
Reads what bet_peer_export wrote.

  lightgcn.py losses DIR WIDTH          a loss a line, from the same start on the same batches
  lightgcn.py step DIR WIDTH THREADS    milliseconds a step, own sampling and Adam included; CSR or
                                        COO, whichever is faster
  lightgcn.py ranking DIR WIDTH THREADS milliseconds for the top 20 of every user
"""
import sys
import time
import warnings

import numpy as np
import torch

warnings.filterwarnings("ignore")
BATCH = 10_000
LAYERS = 3
L2 = 1e-4


class Data:
    def __init__(self, folder, width):
        edges = np.fromfile(f"{folder}/edges.i32", dtype=np.int32).reshape(-1, 2).astype(np.int64)
        self.start = torch.from_numpy(
            np.fromfile(f"{folder}/start.f32", dtype=np.float32).reshape(-1, width))
        self.users = int(edges[:, 0].max()) + 1
        self.nodes = self.start.shape[0]
        self.items = self.nodes - self.users
        user, item = edges[:, 0], edges[:, 1]
        order = np.lexsort((item, user))
        self.user, self.item = user[order], item[order]
        self.degree = np.bincount(self.user, minlength=self.users)
        self.first = np.concatenate([[0], np.cumsum(self.degree)])
        self.keys = self.user * self.items + self.item
        self.rng = np.random.default_rng(1)

    def adjacency(self, layout):
        rows = np.concatenate([self.user, self.item + self.users])
        columns = np.concatenate([self.item + self.users, self.user])
        degree = np.bincount(rows, minlength=self.nodes)
        weight = 1.0 / np.sqrt(degree[rows].astype(np.float64) * degree[columns])
        matrix = torch.sparse_coo_tensor(
            torch.from_numpy(np.stack([rows, columns])),
            torch.from_numpy(weight.astype(np.float32)), (self.nodes, self.nodes)).coalesce()
        return matrix.to_sparse_csr() if layout == "csr" else matrix

    def sample(self):
        user = self.rng.permutation(self.users)[:BATCH]
        user = user[self.degree[user] > 0]
        positive = self.item[self.first[user] + (self.rng.random(len(user)) *
                                                 self.degree[user]).astype(np.int64)]
        negative = self.rng.integers(0, self.items, len(user))
        while True:
            keys = user * self.items + negative
            place = np.searchsorted(self.keys, keys)
            known = self.keys[np.minimum(place, len(self.keys) - 1)] == keys
            if not known.any():
                break
            negative[known] = self.rng.integers(0, self.items, known.sum())
        return [torch.from_numpy(x) for x in (user, positive + self.users, negative + self.users)]


def propagate(matrix, table):
    layer = total = table
    for _ in range(LAYERS):
        layer = matrix @ layer
        total = total + layer
    return total / (LAYERS + 1)


def train_step(matrix, table, optimiser, batch):
    user, positive, negative = batch
    vectors = propagate(matrix, table)
    difference = (vectors[user] * (vectors[negative] - vectors[positive])).sum(1)
    squares = table[user].pow(2).sum() + table[positive].pow(2).sum() + table[negative].pow(2).sum()
    loss = torch.nn.functional.softplus(difference).mean() + L2 * squares / len(user)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return loss.item()


def losses(data, folder):
    batches = np.fromfile(f"{folder}/batches.i32", dtype=np.int32).reshape(-1, 3, BATCH)
    table = data.start.clone().requires_grad_()
    optimiser = torch.optim.Adam([table], lr=0.03)
    matrix = data.adjacency("csr")
    for batch in batches:
        rows = [torch.from_numpy(part.astype(np.int64)) for part in batch]
        print(f"{train_step(matrix, table, optimiser, rows):.6f}")


def step_time(data):
    best = float("inf")
    for layout in ("csr", "coo"):
        table = data.start.clone().requires_grad_()
        optimiser = torch.optim.Adam([table], lr=0.03)
        matrix = data.adjacency(layout)
        train_step(matrix, table, optimiser, data.sample())
        for _ in range(3):  # as Google Benchmark does: the best mean over several steps
            start = time.perf_counter()
            for _ in range(4):
                train_step(matrix, table, optimiser, data.sample())
            best = min(best, (time.perf_counter() - start) / 4)
    print(f"{1000 * best:.2f}")


def ranking_time(data):
    table = data.start.clone().requires_grad_()
    optimiser = torch.optim.Adam([table], lr=0.03)
    matrix = data.adjacency("csr")
    for _ in range(20):
        train_step(matrix, table, optimiser, data.sample())
    best = float("inf")
    with torch.no_grad():
        vectors = propagate(matrix, table)
        items = vectors[data.users:].T.contiguous()
        for _ in range(2):
            start = time.perf_counter()
            for first in range(0, data.users, 1024):
                last = min(first + 1024, data.users)
                scores = vectors[first:last] @ items
                begin, end = data.first[first], data.first[last]
                scores[data.user[begin:end] - first, data.item[begin:end]] = -1e9
                scores.topk(20, dim=1)
            best = min(best, time.perf_counter() - start)
    print(f"{1000 * best:.2f}")


def main():
    what, folder, width = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if len(sys.argv) > 4:
        torch.set_num_threads(int(sys.argv[4]))
    data = Data(folder, width)
    if what == "losses":
        losses(data, folder)
    elif what == "step":
        step_time(data)
    else:
        ranking_time(data)


if __name__ == "__main__":
    main()
