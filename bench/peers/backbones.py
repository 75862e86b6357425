"""NGCF and NeuMF in plain PyTorch, as their users write them: the peers of bet's steps and of its
full ranking. Both devices."""
import torch
from torch.nn import functional

LAYERS = 3
DROPOUT = 0.1


class Ngcf(torch.nn.Module):
    """Over D^-1 (A + I) as COO or CSR; message and edge dropout."""
    l2 = 1e-3

    def __init__(self, data, width, layout="COO"):
        super().__init__()
        self.data, self.layout = data, layout
        self.table = torch.nn.Parameter(torch.empty(data.nodes, width))
        self.mean = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(LAYERS))
        self.product = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(LAYERS))
        torch.nn.init.xavier_uniform_(self.table)

    def matrix(self):
        """With a tenth of the edges dropped."""
        rows, columns, weight, offsets = self.data.looped
        kept = torch.rand(len(weight), device=weight.device) >= DROPOUT
        size = (self.data.nodes, self.data.nodes)
        if self.layout == "CSR":
            return torch.sparse_csr_tensor(offsets, columns, weight * kept / (1 - DROPOUT), size)
        return torch.sparse_coo_tensor(torch.stack([rows[kept], columns[kept]]),
                                       weight[kept] / (1 - DROPOUT), size)._coalesced_(True)

    def loss(self, user, positive, negative):
        matrix = self.matrix()
        layer = self.table
        layers = [layer]
        for mean, product in zip(self.mean, self.product):
            side = matrix @ layer
            layer = functional.leaky_relu(mean(side) + product(layer * side), 0.2)
            layer = functional.dropout(layer, DROPOUT)
            layers.append(functional.normalize(layer, dim=1))
        vectors = torch.cat(layers, 1)
        u, i, j = vectors[user], vectors[positive], vectors[negative]
        squares = u.pow(2).sum() + i.pow(2).sum() + j.pow(2).sum()
        return functional.softplus((u * (j - i)).sum(1)).mean() + self.l2 * squares / len(user)


class NeuMf(torch.nn.Module):
    """Two tables a side, a hidden layer over the concatenation, one head over both parts."""
    l2 = 1e-2

    def __init__(self, data, width):
        super().__init__()
        self.data = data
        tables = [torch.nn.Embedding(rows, width) for rows in (data.users, data.items) * 2]
        for table in tables:
            torch.nn.init.xavier_uniform_(table.weight)
        self.user_product, self.item_product, self.user_hidden, self.item_hidden = tables
        self.hidden = torch.nn.Linear(2 * width, width)
        self.head = torch.nn.Linear(2 * width, 1)

    def score(self, parts):
        gu, gv, mu, mv = parts
        hidden = torch.relu(self.hidden(torch.cat([mu, mv], -1)))
        return self.head(torch.cat([gu * gv, hidden], -1)).squeeze(-1)

    def loss(self, user, positive, negative):
        gu, mu = self.user_product(user), self.user_hidden(user)
        gi, mi = (table(positive - self.data.users)
                  for table in (self.item_product, self.item_hidden))
        gj, mj = (table(negative - self.data.users)
                  for table in (self.item_product, self.item_hidden))
        squares = sum(rows.pow(2).sum() for rows in (gu, mu, gi, mi, gj, mj))
        difference = self.score((gu, gj, mu, mj)) - self.score((gu, gi, mu, mi))
        return functional.softplus(difference).mean() + self.l2 * squares / len(user)

    @torch.no_grad()
    def rank(self, users):
        """The top 20 of some users, one after the other, every pair through the network."""
        gv, mv = self.item_product.weight, self.item_hidden.weight
        for user in users:
            gu = self.user_product.weight[user].expand_as(gv)
            mu = self.user_hidden.weight[user].expand_as(mv)
            scores = self.score((gu, gv, mu, mv))
            first, last = self.data.first[user], self.data.first[user + 1]
            scores[self.data.item[first:last]] = -1e9
            scores.topk(20)


def looped_edges(rows, columns, nodes):
    """Rows, columns, weights and row offsets of D^-1 (A + I), sorted; all on the edges' device."""
    own = torch.arange(nodes, device=rows.device)
    keys = torch.cat([rows * nodes + columns, own * nodes + own]).sort().values
    rows, columns = keys // nodes, keys % nodes
    degree = torch.bincount(rows, minlength=nodes)
    offsets = torch.cat([degree.new_zeros(1), degree.cumsum(0)])
    return rows, columns, 1.0 / degree[rows].float(), offsets


def make_step(model, sample):
    """A function that makes one step."""
    optimiser = torch.optim.Adam(model.parameters(), lr=0.03)

    def step():
        optimiser.zero_grad()
        model.loss(*sample()).backward()
        optimiser.step()
    return step
