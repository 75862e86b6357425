#!/usr/bin/env python3
"""Runs the experiments of docs/results.md and writes one JSON line for each.

  tools/measure.py BET DATA_FOLDER OUT.jsonl GROUP [DEVICE]     runs what OUT does not have yet
  tools/measure.py table OUT.jsonl                              the lines as a Markdown table

GROUP is a name of GROUPS below. A line holds the command, the commit of the working tree (where there
is git), the seconds the run took and its report. Runs that OUT has already are skipped. An interrupted
run (its folder is OUT.run) is resumed; its line says so, and its seconds are those since then.
tools/make_results.py makes the tables of the documentation from these lines.
"""
import functools
import json
import pathlib
import shutil
import subprocess
import sys
import time


BUDGETS = ("5%", "10%", "20%")


def search_runs(data, backbone, seed, _lines):
    """The search and the rules that it must beat, with the loss that is chosen and, for LightGCN, BPR."""
    for loss in ("auto", "bpr") if backbone == "lightgcn" else ("auto",):
        for budget in BUDGETS:
            for method in ("bet", "sided", "es", "frequency"):
                yield data, ["--method", method, "--backbone", backbone, "--budget", budget,
                             "--seed", str(seed), "--loss", loss]


def paper_search_runs(data, seed, _lines):
    """The paper's search, and its two other ways to choose, by BPR."""
    for budget in BUDGETS:
        for selection in ("deepsets", "simple", "random"):
            yield data, ["--method", "bet-paper", "--selection", selection, "--budget", budget,
                         "--seed", str(seed), "--loss", "bpr"]


def backbone_runs(backbone, _lines):
    """NGCF or NCF: equal sizes and the search, at every budget of the paper."""
    for data in ("gowalla", "yelp2018"):
        for budget in ("10%", "20%", "5%"):
            options = ["--backbone", backbone, "--budget", budget]
            yield data, [*options, "--method", "es"]
            yield data, options


def loss_runs(data, seed, _lines):
    """Every method alike with the loss that is chosen (the default): full size, equal sizes, sides."""
    yield data, ["--method", "full", "--seed", str(seed)]
    for method in ("es", "sided"):
        for budget in ("5%", "10%", "20%"):
            yield data, ["--method", method, "--budget", budget, "--seed", str(seed)]


def loss_backbone_runs(backbone, _lines):
    """The other backbones with BPR and with the loss that is chosen."""
    for data in ("gowalla", "yelp2018"):
        for size in (["--method", "es", "--budget", "10%"], ["--method", "full"]):
            for loss in ("bpr", "auto"):
                yield data, [*size, "--backbone", backbone, "--loss", loss]


BUDGETED = ("es", "mr", "sided", "frequency", "magnitude", "pep", "bet")
UNBUDGETED = ("esapn", "optembed")  # they choose their own size


def method_runs(data, _lines):
    """Every method but ciess with LightGCN, at every budget of the paper."""
    for budget in ("10%", "5%", "20%"):
        for method in BUDGETED:
            yield data, ["--method", method, "--budget", budget]
    for method in UNBUDGETED:
        yield data, ["--method", method]


def ciess_runs(data, _lines):
    """Ciess with LightGCN: 330 trainings for each line."""
    for budget in ("10%", "5%", "20%"):
        yield data, ["--method", "ciess", "--budget", budget]


def ciess_weight_runs(weight, _lines):
    """Ciess at 20 % with another weight of the memory, for which fewer of its plans are small."""
    yield "gowalla", ["--method", "ciess", "--budget", "20%", "--memory-weight", weight]


def dense_ciess_runs(backbone, _lines):
    """Ciess with NGCF or NCF at 10 %."""
    yield "gowalla", ["--method", "ciess", "--backbone", backbone, "--budget", "10%"]


def dense_method_runs(_lines):
    """Every method but ciess with NGCF and NCF at 10 %."""
    for backbone in ("ngcf", "ncf"):
        for method in BUDGETED:
            yield "gowalla", ["--method", method, "--backbone", backbone, "--budget", "10%"]
        for method in UNBUDGETED:
            yield "gowalla", ["--method", method, "--backbone", backbone]


def lineup_runs(lines):
    """All methods on the demo data, three seeds; the search also at the sizes that the methods without
    a budget reach."""
    for seed in ("1", "2", "3"):
        for budget in ("5%", "10%"):
            for method in (*BUDGETED, "ciess"):
                yield "demo", ["--method", method, "--budget", budget, "--seed", seed]
        for method in UNBUDGETED:
            options = ["--method", method, "--seed", seed]
            yield "demo", options
            params = [line["report"]["used"]["params"] for line in lines
                      if line["command"][2:-2] == options][0]
            yield "demo", ["--method", "bet", "--budget", f"{params}p", "--seed", seed]


# Each is given the lines measured so far.
GROUPS = {"methods-dense": dense_method_runs, "lineup": lineup_runs}
for name, runs in (("methods", method_runs), ("ciess", ciess_runs)):
    for data in ("gowalla", "yelp2018"):
        GROUPS[f"{name}-{data}"] = functools.partial(runs, data)
for backbone in ("ngcf", "ncf"):
    GROUPS[f"backbones-{backbone}"] = functools.partial(backbone_runs, backbone)
    GROUPS[f"ciess-{backbone}"] = functools.partial(dense_ciess_runs, backbone)
for backbone in ("ngcf", "ncf", "mf"):
    GROUPS[f"loss-{backbone}"] = functools.partial(loss_backbone_runs, backbone)
for data in ("gowalla", "yelp2018"):
    for seed in (1, 2, 3):
        GROUPS[f"loss-{data}-{seed}"] = functools.partial(loss_runs, data, seed)
        GROUPS[f"paper-search-{data}-{seed}"] = functools.partial(paper_search_runs, data, seed)
    for backbone in ("lightgcn", "ngcf", "ncf"):
        for seed in (1, 2, 3, 4, 5):
            GROUPS[f"search-{data}-{backbone}-{seed}"] = functools.partial(search_runs, data,
                                                                           backbone, seed)
for weight in ("0.3", "0.5"):
    GROUPS[f"ciess-weight-{weight}"] = functools.partial(ciess_weight_runs, weight)


def measure(bet, folder, out, group, device):
    path = pathlib.Path(out)
    work = pathlib.Path(f"{out}.run")
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    for data, options in GROUPS[group](lines):
        # The paper's comparison is by BPR for all methods.
        named = group.startswith(("loss-", "search-", "paper-search-"))
        loss = [] if named else ["--loss", "bpr"]
        command = ["fit", data, *options, *loss, "--device", device]
        if command in [line["command"] for line in lines]:
            continue
        # An interrupted run is resumed if it has this command.
        whose, run = work / "command.json", work / "run"
        resumed = (whose.exists() and json.loads(whose.read_text()) == command
                   and (run / "config.toml").exists())
        if not resumed:
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            whose.write_text(json.dumps(command))
        source = data if data == "demo" else f"{folder}/{data}"
        what = ["resume", run] if resumed else ["fit", source, *command[2:], "--out", run]
        start = time.perf_counter()
        # In a session of its own: Ctrl-C is for this program, and would make the fit finish early.
        result = subprocess.run([bet, *what, "--quiet", "--json"], capture_output=True, text=True,
                                start_new_session=True)
        if result.returncode != 0:
            sys.exit(f"{' '.join(command)}: {result.stderr}")
        line = {"command": command, **commit(), "seconds": round(time.perf_counter() - start, 2),
                **({"resumed": True} if resumed else {}),
                "report": short(json.loads(result.stdout))}
        if line["report"]["interrupted"]:
            sys.exit(f"{' '.join(command)}: the run ended early; remove {work}")
        lines.append(line)
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        shutil.rmtree(work)
        print(row(line), flush=True)


def commit():
    """The commit and its date, as fields of a line; none without git."""
    if not shutil.which("git"):
        return {}
    git = subprocess.run(["git", "log", "-1", "--format=%h %cs"], capture_output=True, text=True)
    return dict(zip(("commit", "date"), git.stdout.split()))


def short(report):
    """The report without the parts of its trials that can be drawn again."""
    keys = ("iteration", "strategy", "user_share", "user_kept", "item_kept", "precision", "steps", "fold",
            "fitness", "predicted")
    round_off = lambda value: round(value, 5) if isinstance(value, float) else value
    report["trials"] = [{key: round_off(t[key]) for key in keys} for t in report["trials"]]
    return report


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    for rank, index in enumerate(order):
        result[index] = rank
    return result


def rank_correlation(trials):
    """Spearman's, of predicted with measured fitness after the first 15."""
    late = [t for t in trials if t["iteration"] > 15 and t["predicted"] is not None]
    if len(late) < 3:
        return None
    a, b = ranks([t["predicted"] for t in late]), ranks([t["fitness"] for t in late])
    mean = (len(late) - 1) / 2
    return sum((x - mean) * (y - mean) for x, y in zip(a, b)) / sum((x - mean) ** 2 for x in a)


def row(line):
    report = line["report"]
    seconds = report["seconds"]
    correlation = rank_correlation(report["trials"])
    chosen = report.get("chosen")
    if isinstance(chosen, dict):
        chosen = f"user share {chosen['user_share']:.2f}"
    return (f"| {line['command'][1]} | `{' '.join(line['command'][2:-2])}` "
            f"| {report['validation']['recall@20']:.4f} "
            f"| {report['test']['recall@20']:.4f} / {report['test']['ndcg@20']:.4f} "
            f"| {chosen or ''} "
            f"| {'' if correlation is None else format(correlation, '.2f')} "
            f"| {seconds['pretrain']:.1f}, {seconds['search']:.1f}, {seconds['retrain']:.1f}, "
            f"{seconds['final']:.1f}; {line['seconds']:.1f} "
            f"| {report['peak_rss_bytes'] / 1e9:.2f} |")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "table":
        print("| data | options | validation R@20 | test R@20 / N@20 | chosen | rank correlation "
              "| seconds: pretrain, search, retrain, final; all | GB |\n"
              "|---|---|---|---|---|---|---|---|")
        for line in pathlib.Path(sys.argv[2]).read_text().splitlines():
            print(row(json.loads(line)))
        return
    if len(sys.argv) not in (5, 6) or sys.argv[4] not in GROUPS:
        sys.exit(__doc__)
    bet, folder, out, group = sys.argv[1:5]
    measure(bet, folder, out, group, sys.argv[5] if len(sys.argv) == 6 else "cpu")


if __name__ == "__main__":
    main()
