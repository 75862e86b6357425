"""Tables made from results.csv of `bet experiment`, below docs/results/h200/EXPERIMENT, where they are committed."""
from results.layout import NAMES, mean_spread, percent, table
from results.lines import FOLDER, Paper, read, rows_of, select

BUDGETS = ("20%", "10%", "5%")
BACKBONES = ("lightgcn", "ngcf", "ncf")
OWN_SIZE = ("esapn", "optembed")
METHODS = ("pep", "es", "mr", "ciess", "bet", "bet-paper")
METRICS = ("recall@20", "ndcg@20")


def _cell(runs, metric):
    return mean_spread([run.report["test"][metric] for run in runs]) if runs else "not run"


def _p(pairs, data, backbone, budget, best, metric):
    """Of bet against the best other method, corrected by Holm over the whole of pairs.csv."""
    for row in pairs:
        if (row["data"], row["backbone"], row["budget"], row["other_method"], row["metric"]) == (
                data, backbone, budget, best, metric):
            p = float(row["p_holm"])
            worse = "*" if float(row["difference"]) < 0 else ""
            return ("< 0.0001" if p < 1e-4 else f"{p:.4f}") + worse
    return ""


def _p_row(runs, pairs, data, backbones, budget):
    row = ["p, `bet` against the best other method", percent(budget)]
    for backbone in backbones:
        for metric in METRICS:
            means = {}
            for method in METHODS[:4]:
                cell = select(runs, backbone=backbone, method=method, budget=budget)
                if cell:
                    means[method] = sum(run.report["test"][metric] for run in cell) / len(cell)
            row += [_p(pairs, data, backbone, budget, max(means, key=means.get), metric) if means else "", ""]
    return row


def table1(data):
    """Of the backbones that were run."""
    paper = Paper()
    runs = select(read("h200/table1/results.csv"), data=data)
    pairs = rows_of("h200/table1/pairs.csv")
    backbones = [backbone for backbone in BACKBONES if select(runs, backbone=backbone)]
    rows = []
    for method, budget in [(method, "") for method in OWN_SIZE] + [(m, b) for b in BUDGETS for m in METHODS]:
        row = [f"`{method}`", percent(budget) or "its own"]
        for backbone in backbones:
            cell = select(runs, backbone=backbone, method=method, budget=budget)
            published = "bet" if method == "bet-paper" else method
            for metric in METRICS:
                row += [_cell(cell, metric), paper.value(data, backbone, published, budget, metric)]
        rows.append(row)
        if method == METHODS[-1]:
            rows.append(_p_row(runs, pairs, data, backbones, budget))
    header = [f"{NAMES[backbone]} {metric}" for backbone in backbones for metric in ("R@20", "N@20")]
    return table(["method", "parameters", *(cell for name in header for cell in (name, "paper"))], rows, runs)


def table2():
    runs = read("h200/table2/results.csv")
    published = {(row["dataset"], row["sparsity"], row["selection"]): row for row in rows_of("paper-table2.csv")}
    rows = []
    for budget in BUDGETS:
        for selection in ("random", "simple", "deepsets"):
            row = [f"`{selection}`", percent(budget)]
            for data in ("gowalla", "yelp2018"):
                cell = select(runs, data=data, variant=selection, budget=budget)
                paper = published[data, f"{100 - int(budget[:-1])}%", selection]
                for metric in METRICS:
                    row += [_cell(cell, metric), paper[metric]]
            rows.append(row)
    header = [f"{NAMES[data]} {metric}" for data in ("gowalla", "yelp2018") for metric in ("R@20", "N@20")]
    return table(["selection", "parameters", *(cell for name in header for cell in (name, "paper"))], rows, runs)


# Of the experiments that are committed.
TABLES = {}
if (FOLDER / "h200/table1/results.csv").exists():
    TABLES |= {f"table1-{name}": lambda name=name: table1(name) for name in ("gowalla", "yelp2018")}
if (FOLDER / "h200/table2/results.csv").exists():
    TABLES["table2"] = table2
