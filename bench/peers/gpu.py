#!/usr/bin/env python3
"""bet beside PyTorch on one GPU, in one run: steps and full ranking on 75 % of Gowalla.

  bench/peers/gpu.py BET GOWALLA_FOLDER [LOG [dense]]

BET is the program built by `make cuda`; its times are those that `bet fit` itself reports. The peers
are LightGCN as its users write it in PyTorch, with the adjacency as CSR and COO, and PyTorch
Geometric's. They draw their batches on the GPU, without looking for known negatives. `dense`:
NGCF and NCF alone. Writes every figure as a line of JSON to LOG, the table to stdout.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import torch

from backbones import NeuMf, Ngcf, looped_edges, make_step

warnings.filterwarnings("ignore")
BATCH = 10_000
LAYERS = 3
L2 = 1e-4
WIDTHS = (128, 48, 6)
STEPS = 4000  # so that recording the first step does not count


def read_edges(folder):
    """75 % of each user's items, as user and item columns."""
    rng = np.random.default_rng(1)
    items_of = {}
    for name in ("train.txt", "test.txt"):
        for line in (pathlib.Path(folder) / name).read_text().splitlines():
            numbers = [int(word) for word in line.split()]
            items_of.setdefault(numbers[0], set()).update(numbers[1:])
    users, items = [], []
    for user, own in sorted(items_of.items()):
        own = np.array(sorted(own))
        kept = rng.permutation(own)[:(3 * len(own) + 2) // 4]
        users.append(np.full(len(kept), user))
        items.append(np.sort(kept))
    num_items = 1 + max(max(own) for own in items_of.values())
    return np.concatenate(users), np.concatenate(items), 1 + max(items_of), num_items


class Peer:
    def __init__(self, folder):
        user, item, self.users, self.items = read_edges(folder)
        self.nodes = self.users + self.items
        self.user, self.item = (torch.from_numpy(x).cuda() for x in (user, item))
        self.degree = torch.bincount(self.user, minlength=self.users)
        self.first = torch.cat([torch.zeros(1, dtype=torch.long, device="cuda"),
                                self.degree.cumsum(0)])
        self.rows = torch.cat([self.user, self.item + self.users])
        self.columns = torch.cat([self.item + self.users, self.user])
        self.looped = looped_edges(self.rows, self.columns, self.nodes)

    def adjacency(self, layout):
        degree = torch.bincount(self.rows, minlength=self.nodes).double()
        weight = (degree[self.rows] * degree[self.columns]).rsqrt().float()
        matrix = torch.sparse_coo_tensor(torch.stack([self.rows, self.columns]), weight,
                                         (self.nodes, self.nodes)).coalesce()
        return matrix.to_sparse_csr() if layout == "CSR" else matrix

    def sample(self):
        user = torch.randperm(self.users, device="cuda")[:BATCH]
        place = (torch.rand(BATCH, device="cuda") * self.degree[user]).long()
        positive = self.item[self.first[user] + place] + self.users
        negative = torch.randint(self.items, (BATCH,), device="cuda") + self.users
        return user, positive, negative

    def vectors_by(self, layout, width):
        """A parameter and the function that propagates it."""
        if layout == "PyG":
            from torch_geometric.nn.models import LightGCN
            model = LightGCN(self.nodes, width, LAYERS).cuda()
            edges = torch.stack([self.rows, self.columns])
            return model.embedding.weight, lambda: model.get_embedding(edges)
        matrix = self.adjacency(layout)
        table = (0.01 * torch.randn(self.nodes, width, device="cuda")).requires_grad_()

        def vectors():
            layer = total = table
            for _ in range(LAYERS):
                layer = matrix @ layer
                total = total + layer
            return total / (LAYERS + 1)
        return table, vectors

    def step_milliseconds(self, layout, width):
        table, vectors = self.vectors_by(layout, width)
        optimiser = torch.optim.Adam([table], lr=0.03)

        def step():
            user, positive, negative = self.sample()
            out = vectors()
            difference = (out[user] * (out[negative] - out[positive])).sum(1)
            squares = sum(table[rows].pow(2).sum() for rows in (user, positive, negative))
            loss = torch.nn.functional.softplus(difference).mean() + L2 * squares / BATCH
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        return milliseconds(step, 10, 50)

    def dense_milliseconds(self, model):
        return milliseconds(make_step(model.cuda(), self.sample), 10, 50)

    def ncf_ranking_milliseconds(self, width, ranked=64):
        model = NeuMf(self, width).cuda()
        users = range(0, self.users, self.users // ranked)
        return milliseconds(lambda: model.rank(users), 1, 1) * self.users / len(users)

    def ranking_milliseconds(self, width):
        table, vectors = self.vectors_by("CSR", width)
        with torch.no_grad():
            out = vectors()

        def rank():
            items = out[self.users:].T
            for first in range(0, self.users, 1024):
                last = min(first + 1024, self.users)
                scores = out[first:last] @ items
                begin, end = int(self.first[first]), int(self.first[last])
                scores[self.user[begin:end] - first, self.item[begin:end]] = -1e9
                scores.topk(20, dim=1)
        with torch.no_grad():
            return milliseconds(rank, 2, 5)


def milliseconds(work, warm_up, count):
    """The median of three means."""
    for _ in range(warm_up):
        work()
    means = []
    for _ in range(3):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            work()
        torch.cuda.synchronize()
        means.append(1000 * (time.perf_counter() - start) / count)
    return sorted(means)[1]


def fit(bet, data, *options):
    with tempfile.TemporaryDirectory() as out:
        command = [bet, "fit", data, "--loss", "bpr", "--device", "cuda", "--quiet", "--json", "--overwrite",
                   "--out", out, *options]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def main():
    bet, data = sys.argv[1:3]
    log = open(sys.argv[3], "w") if len(sys.argv) > 3 else None

    def note(name, ours, **peers):
        line = {"name": name, "ours_ms": round(ours, 4),
                **{peer: round(value, 3) for peer, value in peers.items()},
                "gpu": torch.cuda.get_device_name(), "torch": torch.__version__}
        if log:
            print(json.dumps(line), file=log, flush=True)
        print(f"{name:24s} ours {ours:8.3f} ms  " +
              "  ".join(f"{peer} {value:.2f}" for peer, value in peers.items()), flush=True)

    peer = Peer(data)
    if sys.argv[4:] != ["dense"]:
        lightgcn(bet, data, peer, note)
    dense(bet, data, peer, note)


def middle(reports, key):
    return sorted(report["milliseconds"][key] for report in reports)[1]


def lightgcn(bet, data, peer, note):
    for width in WIDTHS:
        budget = f"{100 * width / 128:.4f}%"
        reports = [fit(bet, data, "--method", "es", "--budget", budget, "--schedule", "paper",
                       "--max-steps", str(STEPS), "--measure-steps", "1000") for _ in range(3)]
        note(f"lightgcn_step_{width}", middle(reports, "final_step"),
             **{layout: peer.step_milliseconds(layout, width) for layout in ("CSR", "COO", "PyG")})
        if width == 128:
            note("full_ranking_top20", middle(reports, "measure"),
                 PyTorch=peer.ranking_milliseconds(128))


def dense(bet, data, peer, note):
    reports = {backbone: [fit(bet, data, "--backbone", backbone, "--method", "full", "--schedule",
                              "paper", "--max-steps", "1000", "--measure-steps", "500")
                          for _ in range(3)] for backbone in ("ngcf", "ncf")}
    note("ngcf_step_128", middle(reports["ngcf"], "final_step"),
         **{layout: peer.dense_milliseconds(Ngcf(peer, 128, layout)) for layout in ("CSR", "COO")})
    note("ncf_step_128", middle(reports["ncf"], "final_step"),
         PyTorch=peer.dense_milliseconds(NeuMf(peer, 128)))
    note("ncf_full_ranking", middle(reports["ncf"], "measure"),
         PyTorch=peer.ncf_ranking_milliseconds(128))


main()
