"""The tables of docs/results.md, docs/scale.md and docs/studies, each a function of the committed result files."""
import statistics

import measure_fits
from results import experiments
from results import scale as scale_lines
from results import temperatures
from results import updates as update_lines
from results.layout import NAMES, commits, footer, markdown, mean_spread, percent, table, unique
from results.lines import Paper, one, read, select, text_file

BUDGETS = ("5%", "10%", "20%")
BUDGETED = ("es", "mr", "sided", "frequency", "magnitude", "pep", "ciess", "bet")


def reached(run):
    """The share of the full table in brackets where it is not the budget."""
    share = run.report["used"].get("share")
    if share is None:
        return ""
    asked = float(run.budget[:-1]) / 100 if run.budget.endswith("%") else None
    return "" if asked is not None and abs(share - asked) < 5e-5 else f" ({100 * share:.2f} %)"


def quality(run):
    return f"{run.recall():.4f} / {run.ndcg():.4f}" if run else ""


# --- the loss -----------------------------------------------------------------------------------

LOSS_CELLS = (("full", ""), *((method, budget) for method in ("es", "sided") for budget in BUDGETS))


def loss_cells():
    """Every backbone by BPR and by the loss that is chosen, over the seeds that both have."""
    # LightGCN at full size was run again.
    runs = read("h200/loss-full.jsonl") + [run for run in read("h200/loss-large.jsonl")
                                           if (run.backbone, run.method) != ("lightgcn", "full")]
    rows = []
    for data in ("gowalla", "yelp2018"):
        for backbone in ("lightgcn", "mf", "ncf", "ngcf"):
            for method, budget in LOSS_CELLS:
                cells = {loss: {run.seed: run for run in select(runs, data=data, backbone=backbone, method=method)
                                if run.fields["loss"] == loss and run.fields["budget"] == budget}
                         for loss in ("bpr", "auto")}
                seeds = sorted(cells["bpr"].keys() & cells["auto"].keys())
                if not seeds:
                    continue
                bpr, auto = ([cells[loss][seed].fields["recall"] for seed in seeds] for loss in ("bpr", "auto"))
                change = statistics.mean(auto) / statistics.mean(bpr) - 1
                rows.append([f"{NAMES[data]}, {NAMES[backbone]}", f"`{method}` {percent(budget)}".strip(),
                             mean_spread(bpr), mean_spread(auto), f"{100 * change:+.1f} %",
                             "; ".join(unique(cells["auto"][seed].fields["chosen"] for seed in seeds))])
    return table(["data, backbone", "plan", "`--loss bpr`: R@20", "`--loss auto`: R@20", "change", "chosen"], rows, runs)


SMALL_VARIANTS = {"bpr": "`--loss bpr`", "auto, one length": "`auto`, one length for all losses",
                  "auto": "`auto` now"}


def loss_by_length():
    """Small data: BPR, and the loss that is chosen without and with a length of its own for BPR."""
    runs = read("loss-small.jsonl")
    keys = sorted({(run.backbone, run.method, run.data) for run in runs})
    rows = []
    for backbone, method, data in keys:
        cells = {variant: {run.seed: run.fields["recall"]
                           for run in select(runs, backbone=backbone, method=method, data=data)
                           if run.fields["variant"] == variant} for variant in SMALL_VARIANTS}
        row = [f"{NAMES[backbone]}, `{method}`{' 10 %' if method == 'es' else ''}", data]
        before = cells["bpr"]
        for variant, values in cells.items():
            text = mean_spread(list(values.values())) if values else "not run"
            both = before.keys() & values.keys()
            if variant != "bpr" and both:
                change = sum(values[seed] for seed in both) / sum(before[seed] for seed in both) - 1
                text += f", {100 * change:+.1f} %"
            row.append(text)
        rows.append(row)
    return table(["backbone, plan", "data", *SMALL_VARIANTS.values()], rows, runs, "../results")


def loss_on_small_data():
    """BPR and the loss that is chosen, over the same seeds."""
    runs = read("h200/loss-small.jsonl")
    rows = []
    for backbone in measure_fits.BACKBONES:
        for method in ("full", "es"):
            for data in measure_fits.FIRST:
                cells = {loss: {run.seed: run.fields for run in select(runs, backbone=backbone, method=method, data=data)
                                if run.fields["loss"] == loss} for loss in ("bpr", "auto")}
                seeds = sorted(cells["bpr"].keys() & cells["auto"].keys())
                bpr, auto = ([cells[loss][seed]["recall"] for seed in seeds] for loss in ("bpr", "auto"))
                change = statistics.mean(auto) / statistics.mean(bpr) - 1
                rows.append([f"{NAMES[backbone]}, `{method}`{' 10 %' if method == 'es' else ''}", data,
                             mean_spread(bpr), mean_spread(auto), f"{100 * change:+.1f} %",
                             "; ".join(unique(cells["auto"][seed]["chosen"] for seed in seeds))])
    return table(["backbone, plan", "data", "`--loss bpr`", "`--loss auto`", "change", "chosen"], rows, runs, STUDY)


# --- the search ---------------------------------------------------------------------------------

RULES = ("sided", "es", "frequency")


def search_seeds():
    """The search beside rules at one commit, LightGCN, with the loss that is chosen."""
    rules = [run for run in select(read("h200/loss-large.jsonl"), backbone="lightgcn")
             if run.method != "full" and run.fields["loss"] == "auto"]
    found = read("h200/search-seeds.jsonl")
    rows = []
    for data in ("gowalla", "yelp2018"):
        for budget in BUDGETS:
            cells = {method: {run.seed: run.fields["recall"] for run in select(found + rules, data=data, method=method)
                              if run.fields["budget"] == budget} for method in ("bet", "sided", "es")}
            means = {method: statistics.mean(cell.values()) for method, cell in cells.items()}
            change = means["bet"] / max(means["sided"], means["es"]) - 1
            rows.append([f"{NAMES[data]} {percent(budget)}", *(mean_spread(list(cell.values())) for cell in cells.values()),
                         f"{100 * change:+.1f} %"])
    return table(["data, budget", "`bet`", "`sided`", "`es`", "`bet` against the better rule"], rows, found + rules)


def search_rungs():
    """The search beside the rules, LightGCN, with the loss that is chosen."""
    runs = [run for run in read("h200/search-rungs.jsonl") + read("h200/loss.jsonl")
            if run.backbone == "lightgcn" and run.budget and "bpr" not in run.options]
    rows = []
    for data in ("gowalla", "yelp2018"):
        for budget in BUDGETS:
            cells = {method: [run.recall() for run in select(runs, data=data, budget=budget, method=method)]
                     for method in ("bet", *RULES)}
            best = max(statistics.mean(cells[rule]) for rule in RULES)
            change = statistics.mean(cells["bet"]) / best - 1
            rows.append([f"{NAMES[data]} {percent(budget)}",
                         *(mean_spread(values) for values in cells.values()), f"{100 * change:+.1f} %"])
    return table(["data, budget", "`bet`", *(f"`{rule}`" for rule in RULES), "`bet` against the best rule"],
                 rows, runs, STUDY)


def search_rungs_dense():
    """The search beside rules with NGCF and NCF, Gowalla."""
    runs = [run for run in read("h200/search-rungs.jsonl") + read("h200/loss.jsonl")
            if run.data == "gowalla" and run.backbone in ("ngcf", "ncf") and run.budget
            and "bpr" not in run.options]
    rows, used = [], []
    for backbone, budget in (("ngcf", "10%"), ("ncf", "5%"), ("ncf", "20%")):
        row = [f"{NAMES[backbone]}, {percent(budget)}"]
        for method in ("bet", "sided", "es"):
            run = one(runs, backbone=backbone, budget=budget, method=method)
            used += [run] if run else []
            row.append(quality(run) or "not run")
        rows.append(row)
    return table(["backbone, budget", "`bet`", "`sided`", "`es`"], rows, used)


def search_middle():
    """The search with its middle rung, beside `sided` and `es` as they were before it."""
    runs = [run for run in read("h200/search-middle.jsonl") if run.method == "bet"]
    rules = [run for run in read("h200/loss.jsonl") if run.budget and "bpr" not in run.options]
    rules += [run for run in read("h200/search-middle.jsonl") if run.method != "bet"]
    rows, used = [], []
    for backbone, data in (("lightgcn", "gowalla"), ("lightgcn", "yelp2018"), ("ngcf", "gowalla")):
        for budget in BUDGETS:
            row = [f"{NAMES[backbone]}, {NAMES[data]} {percent(budget)}"]
            for pool, method in ((runs, "bet"), (rules, "sided"), (rules, "es")):
                found = {run.seed: run for run in select(pool, data=data, backbone=backbone, budget=budget,
                                                         method=method)}
                used += found.values()
                row.append(mean_spread([run.recall() for run in found.values()]) if found else "not run")
            rows.append(row)
    return table(["backbone, data, budget", "`bet`", "`sided`", "`es`"], rows, used, STUDY)


def _ranks(values):
    """From 1; equal values share the mean of theirs."""
    order = sorted(values)
    return [order.index(value) + (order.count(value) + 1) / 2 for value in values]


def _rank_correlation(values, others):
    """Spearman's."""
    return statistics.correlation(_ranks(values), _ranks(others))


def short_trainings():
    """How well short trainings and probes rank plans as whole trainings do, and what choosing by them loses."""
    runs = read("rank-plans.jsonl")
    rows = []
    for run in runs:
        final = run.fields["other_third"]

        def cell(scores):
            best_four = sorted(range(len(scores)), key=scores.__getitem__)[-4:]
            loss = 1 - max(final[plan] for plan in best_four) / max(final)
            return f"{_rank_correlation(scores, final):.2f} ({100 * loss:.1f} %)"

        rows.append([f"{NAMES[run.backbone]}, {NAMES.get(run.data, run.data)} {percent(run.fields['budget'])}",
                     len(final), f"{run.fields['first_steps']} of {run.fields['length']}",
                     *(cell(run.fields[rung]) for rung in ("probe", "first", "middle", "last", "whole"))])
    return table(["backbone, data, budget", "plans", "steps of the first rung", "probe of `bet-paper`", "first rung", "middle rung",
                  "last rung", "whole training, same third"], rows, runs, STUDY)


# --- bits ---------------------------------------------------------------------------------------

BYTE_BUDGETS = ("5%B", "2%B", "1%B", "0.5%B")


def byte_share(budget):
    return f"{budget[:-2]} % of the bytes"


def bits_search():
    """Budgets of bytes: the plan that the search chose, and the share of full size that it keeps."""
    used = []
    rows = []
    for data in ("gowalla", "yelp2018"):
        runs = read(f"h200/bits-{data}/results.csv")
        full = select(runs, method="full")
        whole = statistics.mean(run.recall() for run in full)
        used += runs
        for budget in BYTE_BUDGETS:
            cell = select(runs, method="bet", budget=budget)
            recalls = [run.recall() for run in cell]
            rows.append([NAMES[data], byte_share(budget), f"{max(run.report['used']['bytes'] for run in cell):,}",
                         ", ".join(run.report["used"]["precision"] for run in cell), mean_spread(recalls),
                         f"{statistics.mean(recalls) / whole:.3f}"])
        rows.append([NAMES[data], "full size, fp32", f"{full[0].report['used']['bytes']:,}", "fp32",
                     mean_spread([run.recall() for run in full]), "1"])
    return table(["data", "budget", "table, bytes", "precision chosen (users/items), by seed", "test R@20",
                  "of full size in fp32"], rows, used)


def bits_files():
    """Budgets for the whole file."""
    full = select(read("h200/bits-gowalla/results.csv"), method="full")
    whole = statistics.mean(run.recall() for run in full)
    used = [run for run in read("h200/bits-files.jsonl") if run.budget.endswith("MiB")]
    rows = []
    for run in used:
        report = run.report
        seen = "with" if report["used"]["seen"] else "without"
        form = "table and graph" if report["used"]["serving"] == "graph" else "vectors"
        options = " ".join(f"{a} {b}" for a, b in zip(run.options, run.options[1:]) if a in ("--budget", "--seen"))
        rows.append([f"`{options}`", f"{report['used']['file_bytes']:,}", f"{report['used']['bytes']:,}",
                     f"{form}, {seen} seen items", report["used"]["precision"], f"{run.recall():.4f}",
                     f"{run.recall() / whole:.3f}"])
    return table(["Gowalla", "file, bytes", "table, bytes", "what the file has", "precision", "test R@20",
                  "of full size in fp32"], rows, used)


def bits_mf():
    """MF under budgets of bytes."""
    runs = select(read("h200/bits-files.jsonl"), backbone="mf")
    whole = one(runs, method="full")
    rows = [[byte_share(run.budget) if run.budget else "full size, fp32", run.report["used"]["precision"],
             f"{run.report['used']['bytes']:,}", f"{run.recall():.4f}", f"{run.recall() / whole.recall():.3f}"]
            for run in sorted(runs, key=lambda run: -run.report["used"]["bytes"])]
    return table(["Gowalla, MF", "precision", "table, bytes", "test R@20", "of full size in fp32"], rows, runs)


def bits_plans(data):
    """Simple plans in each precision, test R@20."""
    runs = [run for run in read("h200/bits-plans.jsonl") if run.data == data and run.budget]
    precisions = ("int3", "int2", "ternary", "int1")
    rows = []
    for budget in BYTE_BUDGETS:
        for method, name in (("es", "both sides equal"), ("sided", "users alone")):
            cells = []
            for precision in precisions:
                found = [run for run in select(runs, budget=budget, method=method)
                         if precision in run.options and "--max-steps" not in run.options]
                cells.append(f"{found[0].recall():.4f}" if found else "")
            if any(cells):
                rows.append([byte_share(budget), name, *cells])
    return table(["budget", "plan", *precisions], rows, runs, STUDY)


def grid_lines():
    """(data, options, score) of every training of the grid, in order."""
    text, run = text_file("h200/loss-grid.txt")
    lines = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        what, scores = line.split(" | ")
        data, *options = what.split()
        lines.append((data, dict(option.split("=") for option in options), float(scores.split()[0])))
    return lines, run


def plan_name(options):
    if "w" in options:
        return f"all rows {options['w']}"
    return f"users {options['u']}, items {options['i']}"


def loss_grid(names, backbones, steps=None):
    """The best of each kind of loss, by data, backbone and plan."""
    lines, run = grid_lines()
    cells = {}
    for data, options, score in lines:
        tuned = {"lr", "passes", "b1", "b2", "l2", "seed"} & options.keys()
        if data not in names or options["backbone"] not in backbones or tuned:
            continue
        if steps is not None and options["steps"] not in steps:
            continue
        key = (data, options["backbone"], plan_name(options), options["steps"])
        kind = "bpr" if options["loss"] == "bpr" else options.get("score", "dot")
        text = options.get("t", "")
        best = cells.setdefault(key, {}).get(kind, (0, ""))
        cells[key][kind] = max(best, (score, f"{text}" if kind != "bpr" else ""))
    rows = []
    for (data, backbone, plan, length), kinds in cells.items():
        top = max(score for score, _ in kinds.values())
        row = [NAMES.get(data, data), NAMES[backbone], plan, length]
        for kind in ("bpr", "dot", "cosine"):
            score, text = kinds.get(kind, (0, ""))
            shown = f"{score:.4f}" + (f" ({text})" if text else "")
            row.append("" if score == 0 else f"**{shown}**" if score == top else shown)
        rows.append(row)
    return markdown(["data", "backbone", "sizes", "steps", "BPR", "softmax (temperature)",
                     "softmax of cosines (temperature)"], rows) + "\n\n" + footer([run], "../results")


def loss_settings():
    """Rate, betas, pairs by user, negatives and regulariser with the softmax."""
    lines, run = grid_lines()
    rows = []
    for data, options, score in lines:
        tuned = [f"{name} {options[name]}" for name in ("lr", "passes", "b1", "b2", "l2") if name in options]
        if options["backbone"] != "lightgcn" or options["loss"] == "bpr" or options.get("score"):
            continue
        alone = (plan_name(options), options["t"]) in (("all rows 12", "12"), ("all rows 128", "24"))
        if tuned or (alone and options["steps"] == "400"):
            name = ", ".join(tuned) or ("" if options["negs"] == "128" else f"{options['negs']} negatives")
            rows.append([NAMES[data], plan_name(options), options["t"], name, f"{score:.4f}"])
    return markdown(["data", "sizes", "temperature", "changed", "score"], rows) + "\n\n" + footer([run], "../results")


# --- docs/results.md --------------------------------------------------------------------------


def methods(data):
    """Test R@20 of every method with LightGCN at the paper's budgets."""
    paper = Paper()
    ciess = [run for run in read("h200/methods-ciess.jsonl") if "--memory-weight" not in run.options]
    runs = read(f"h200/methods-{data}.jsonl") + ciess
    rows, used = [], []
    for method in BUDGETED:
        row, of_row = [f"`{method}`"], []
        for budget in BUDGETS:
            run = one(runs, data=data, method=method, budget=budget)
            of_row.append(run)
            row += [f"{run.recall():.4f}{reached(run)}",
                    paper.value(data, "lightgcn", method, budget)]
        rows.append(row + [commits(of_row)])
        used += of_row
    header = ["method"] + [cell for b in BUDGETS for cell in (percent(b), "paper")] + ["commit"]
    return table(header, rows, used, folder=STUDY)


def own_size():
    """The methods that cannot be given a budget."""
    paper = Paper()
    rows, used = [], []
    data = "gowalla"
    for backbone in ("ngcf", "ncf"):
        for method in ("esapn", "optembed"):
            run = one(read("h200/methods-dense.jsonl"), backbone=backbone, method=method)
            used.append(run)
            rows.append([f"{NAMES[data]}, {NAMES[backbone]}", f"`{method}`",
                         f"{100 * run.report['used']['share']:.2f} %", f"{run.recall():.4f}",
                         percent(paper.share(data, backbone, method)),
                         paper.value(data, backbone, method, ""), run.commit])
    return table(["data, backbone", "method", "share reached", "test R@20", "paper: share",
                  "paper: R@20", "commit"], rows, used)


def full_size():
    runs = [(run, "fast, two pairs per user") for run in select(read("h200/fits.jsonl"), method="full")]
    runs += [(run, "paper") for run in read("h200/paper-full.json")]
    rows = [[NAMES[run.data], schedule, f"{run.report['steps']['final']:,}", f"{run.recall('validation'):.4f}",
             quality(run), f"{run.report['seconds']['final']:.2f}",
             f"{run.report['seconds']['total']:.2f}"] for run, schedule in runs]
    return table(["data", "schedule", "steps", "validation R@20", "test R@20 / N@20",
                  "final training, s", "whole run, s"], rows, [run for run, _ in runs], folder=STUDY)


def backbones():
    """NGCF and NCF: equal sizes and the search."""
    paper, runs = Paper(), read("h200/backbones.jsonl")
    rows = []
    for data in ("gowalla", "yelp2018"):
        for backbone in ("ngcf", "ncf"):
            for budget in BUDGETS:
                row = [f"{NAMES[data]}, {NAMES[backbone]}, {percent(budget)}"]
                of_row = []
                for method in ("es", "bet"):
                    run = one(runs, data=data, backbone=backbone, budget=budget, method=method)
                    of_row.append(run)
                    row += [" / ".join(paper.value(data, backbone, method, budget, metric)
                                       for metric in ("recall@20", "ndcg@20")), quality(run),
                            f"{run.fields['seconds']:.0f}"]
                rows.append(row + [f"{of_row[0].commit}; {of_row[1].commit}"])
    return table(["data, backbone, budget", "paper's ES", "`es`", "s", "paper's BET", "`bet`", "s",
                  "commit (`es`; `bet`)"], rows, runs)


def methods_dense():
    """Every method with NGCF and NCF at 10 % on Gowalla."""
    paper = Paper()
    # The search with NGCF was measured again with the runs by backbone.
    runs = read("h200/methods-dense.jsonl") + select(read("h200/backbones.jsonl"), method="bet",
                                                     backbone="ngcf", data="gowalla", budget="10%")
    rows, used = [], []
    for method in BUDGETED:
        row = [f"`{method}`"]
        of_row = []
        for backbone in ("ngcf", "ncf"):
            run = one(runs, method=method, backbone=backbone)
            of_row.append(run)
            row += [f"{run.recall():.4f}{reached(run)}", paper.value("gowalla", backbone, method, "10%")]
        rows.append(row + ["; ".join(unique(run.commit for run in of_row))])
        used += of_row
    return table(["method", "NGCF", "paper", "NCF", "paper", "commit (NGCF; NCF if it differs)"], rows,
                 used)


SEARCH_COLUMNS = ("by default", "`--min-dim 1`", "`--effort paper`")


def search_runs(data, budget):
    """The search in the three settings of SEARCH_COLUMNS, at the newest commit."""
    sources = (f"methods-{data}", "least-size", "search-rules")
    return [one(read(f"h200/{name}.jsonl"), data=data, budget=budget, method="bet") for name in sources]


def validation_and_test(run):
    return f"{run.recall('validation'):.4f}: {run.recall():.4f}"


def search_options():
    rows, used = [], []
    for data in ("gowalla", "yelp2018"):
        for budget in BUDGETS:
            runs = search_runs(data, budget)
            rows.append([f"{NAMES[data]} {percent(budget)}", *map(validation_and_test, runs)])
            used += runs
    return table(["data, budget", *SEARCH_COLUMNS], rows, used, folder=STUDY)


def small_data():
    """Every backbone on small data sets: mean and standard deviation over five seeds."""
    runs = read("h200/lengths-rates.jsonl")
    datasets = measure_fits.FIRST
    rows = []
    for backbone in measure_fits.BACKBONES:
        for method in ("full", "es", "bet"):
            cells = [select(runs, backbone=backbone, method=method, data=data) for data in datasets]
            rows.append([f"{NAMES[backbone]}, `{method}`",
                         *(mean_spread([run.fields["recall"] for run in cell]) for cell in cells)])
    return table(["backbone, method", *datasets], rows, runs)


def milliseconds(value):
    if value is None:
        return ""
    digits = 0 if value >= 100 else 1 if value >= 20 else 2 if value >= 1 else 3
    return f"{value:,.{digits}f}"


PEER_NAMES = {"lightgcn_step_128": "LightGCN training step, width 128",
              "lightgcn_step_48": "LightGCN training step, width 48",
              "lightgcn_step_6": "LightGCN training step, width 6",
              "full_ranking_top20": "ranking of all items for all users, top 20",
              "ngcf_step_128": "NGCF training step, width 128",
              "ncf_step_128": "NCF training step, width 128",
              "ncf_full_ranking": "NCF ranking of all items for all users, top 20"}


def gpu_peers():
    runs = read("h200/peers.jsonl") + read("h200/peers-dense.jsonl")
    rows = []
    for run in runs:
        fields = run.fields
        peers = {key: fields[key] for key in ("CSR", "COO", "PyG", "PyTorch") if key in fields}
        csr = peers.get("CSR", peers.get("PyTorch"))
        rows.append([PEER_NAMES[fields["name"]], milliseconds(fields["ours_ms"]), milliseconds(csr),
                     milliseconds(peers.get("COO")), milliseconds(peers.get("PyG")),
                     f"{min(peers.values()) / fields['ours_ms']:.1f}", run.commit])
    return table(["milliseconds", "bet", "PyTorch (CSR or dense)", "PyTorch COO", "PyG",
                  "fastest peer / bet", "commit"], rows, runs, timing=True)


def gpu_joined():
    """Several models trained in one table: the lines of Google Benchmark."""
    text, run = text_file("h200/bench.txt")
    rows = []
    for line in text.splitlines():
        name, value, unit = line.split()[:3]
        if name.startswith("lightgcn_step_joined/"):
            rows.append([name.split("/")[1], f"{value} {unit}"])
    return table(["models of width 12 trained together", "one step"], rows, [run], timing=True)


# --- docs/studies -----------------------------------------------------------------------------

STUDY = "../results"

VARIANTS = {"fast 60k x 32 shared, 300 steps": "2 per user, 32 shared negatives, 300 steps",
            "fast 60k x 32 shared, 400 steps": "2 per user, 32 shared negatives, 400 steps",
            "fast 60k x 32 shared, 600 steps, lr 0.08":
                "2 per user, 32 shared negatives, 600 steps, rate 0.08",
            "150k x 32 shared, 300 steps": "5 per user, 32 shared negatives, 300 steps",
            "150k x 32 shared, 400 steps": "**5 per user, 32 shared negatives, 400 steps**",
            "150k x 1 own, 800 steps, lr 0.06": "5 per user, 1 own negative, 800 steps, rate 0.06",
            "60k x 32 shared, interactions, 400 steps":
                "2 per user, drawn by interactions, 32 shared negatives, 400 steps"}


def schedule_variants():
    runs = read("h200/schedule.jsonl")
    columns = (("gowalla", 6), ("gowalla", 12), ("gowalla", 128), ("yelp2018", 12), ("yelp2018", 128))
    rows = []
    for variant, name in VARIANTS.items():
        row = [name]
        for data, width in columns:
            cell = [run.fields for run in runs if (run.data, run.fields["width"],
                                                   run.fields["variant"]) == (data, width, variant)]
            row.append(f"{statistics.mean(f['eval'] for f in cell):.4f}, "
                       f"{statistics.mean(f['train_seconds'] for f in cell):.2f} s" if cell else "")
        rows.append(row)
    return table(["variant", *(f"{NAMES[data]} {width}" for data, width in columns)], rows, runs, STUDY)


def first_fits():
    runs = read("h200/fits.jsonl")
    rows = []
    for run in runs:
        seconds = run.report["seconds"]
        rows.append([NAMES[run.data], percent(run.budget) or "full", f"{run.recall('validation'):.4f}",
                     quality(run), f"{seconds['final']:.2f}", f"{seconds['total']:.2f}"])
    return table(["data", "budget", "validation R@20", "test R@20 / N@20", "final training, s",
                  "whole run, s"], rows, runs, STUDY)


def lengths(before, after):
    old, new = read(f"h200/{before}.jsonl"), read(f"h200/{after}.jsonl")
    names = [*measure_fits.FIRST, *measure_fits.FRESH]
    rows = []
    for backbone in measure_fits.BACKBONES:
        for method in ("full", "es", "bet"):
            for data in names:
                cells = [[run.fields for run in select(runs, backbone=backbone, method=method, data=data)]
                         for runs in (old, new)]
                if not all(cells):
                    continue
                recalls = [[fields["recall"] for fields in cell] for cell in cells]
                change = statistics.mean(recalls[1]) / statistics.mean(recalls[0]) - 1
                steps = sorted({fields["steps"]["best"] for fields in cells[1]})
                rows.append([f"{NAMES[backbone]}, `{method}`", data, *map(mean_spread, recalls),
                             f"{100 * change:+.1f} %", ", ".join(map(str, steps))])
    return table(["backbone, method", "data", "before", "after", "change", "lengths after"], rows,
                 old + new, STUDY)


# Users of the data sets of measure_fits.
USERS = {"demo": 2000, "ml-100k": 943, "ml-latest-small": 671,
         **{name: shape[0] for name, shape in measure_fits.SYNTHETIC.items()}}


def plan_choice():
    """`bet --effort quick` beside `es --effort quick`, and with equal sizes where the plan is not clearly better."""
    found = [run for run in read("h200/lengths-rates.jsonl") if run.method == "bet"]
    equal, compared = read("h200/lengths-es-quick.jsonl"), read("h200/plan-choice.jsonl")
    rows = []
    for backbone in measure_fits.BACKBONES:
        for data in measure_fits.FIRST:
            recalls = [{run.seed: run.fields["recall"] for run in select(runs, backbone=backbone, data=data)}
                       for runs in (equal, found)]
            noise = (3 * USERS[data]) ** -0.5
            unclear = {run.seed for run in select(compared, backbone=backbone, data=data)
                       if run.fields["plan"] <= (1 + noise) * run.fields["equal_sizes"]}
            now = {seed: recalls[0 if seed in unclear else 1][seed] for seed in recalls[1]}
            changes = [[100 * (cell[seed] / recalls[0][seed] - 1) for seed in cell] for cell in (recalls[1], now)]
            rows.append([NAMES[backbone], data, *(mean_spread(list(cell.values())) for cell in recalls),
                         *(f"{statistics.mean(change):+.1f} ± {statistics.stdev(change):.1f} %" for change in changes)])
    return table(["backbone", "data", "`es`", "`bet`", "`bet` against `es`", "with this rule, computed"], rows,
                 found + equal + compared, STUDY)


def quick_beside_equal():
    """`bet --effort quick` beside `es`, seed by seed."""
    runs = read("quick.jsonl")
    rows = []
    for backbone in unique(run.backbone for run in runs):
        for data in (*measure_fits.FIRST, *measure_fits.FRESH):
            equal, found = ({run.seed: run.fields["recall"] for run in select(runs, backbone=backbone, data=data, method=method)}
                            for method in ("es", "bet"))
            if not found:
                continue
            changes = [100 * (found[seed] / equal[seed] - 1) for seed in found]
            spread = f" ± {statistics.stdev(changes):.1f}" if len(changes) > 1 else ""
            rows.append([NAMES[backbone], data, len(found), mean_spread([equal[seed] for seed in found]),
                         mean_spread(list(found.values())), f"{statistics.mean(changes):+.1f}{spread} %"])
    return table(["backbone", "data", "seeds", "`es`", "`bet --effort quick`", "change"], rows, runs, STUDY)


def rates():
    """The score on validation, at the length that is best for it, by rate."""
    runs = read("h200/rates.jsonl")
    slower = sorted({run.fields["slower"] for run in runs})
    rows = []
    for backbone in ("mf", "ncf"):
        for data in measure_fits.FIRST:
            cells = [[run.fields["validation"] for run in select(runs, backbone=backbone, data=data)
                      if run.fields["slower"] == one] for one in slower]
            best = max(cells, key=statistics.mean)
            rows.append([f"{NAMES[backbone]}, {data}",
                         *(f"**{mean_spread(cell)}**" if cell is best else mean_spread(cell) for cell in cells)])
    return table(["backbone, data", *("rate" if one == 1 else f"1/{one}" for one in slower)], rows, runs, STUDY)


def ncf_rates():
    """NCF, 800 steps of BPR by rate: the score on validation of the whole length, and test R@20 of what was chosen."""
    runs = read("h200/ncf-rates.jsonl")
    used = sorted({run.fields["rate"] for run in runs}, reverse=True)
    rows = []
    for method, datasets in (("full", (*measure_fits.FIRST, "gowalla", "yelp2018")),
                             ("es", ("gowalla", "yelp2018"))):
        for data in datasets:
            row = [f"{NAMES.get(data, data)}, `{method}`{' 10 %' if method == 'es' else ''}"]
            for rate in used:
                cell = [run.fields for run in select(runs, method=method, data=data) if run.fields["rate"] == rate]
                row += [mean_spread([run["trials"][0][2] for run in cell]) if cell else "not run",
                        mean_spread([run["recall"] for run in cell]) if cell else ""]
            rows.append(row)
    return table(["data, plan", *(title for rate in used for title in (f"rate {rate}: whole", "test"))], rows, runs, STUDY)


FINAL_VARIANTS = {"as before": "as before",
                  "3/16 and 3/8 measured": "more measurements: also at 3/16 and 3/8 of the schedule",
                  "passes": "as many passes over the data instead of steps",
                  "both": "**both**",
                  "both, empty rows and fixed rules (575888e)":
                      "both, with empty rows and fixed rules in the search"}


def final_training():
    runs = read("synth-final-training.jsonl")
    rows = []
    for variant, name in FINAL_VARIANTS.items():
        row = [name]
        for method in ("sided", "es", "bet"):
            means = []
            for budget in BUDGETS[:2]:
                cell = [run.fields["test recall@20"] for run in runs
                        if run.fields["variant"] == variant
                        and f"--method {method} --budget {budget} " in run.fields["command"] + " "]
                means += [f"{statistics.mean(cell):.4f}"] if cell else []
            row.append(", ".join(means))
        rows.append(row)
    return table(["variant", "`sided` 5 %, 10 %", "`es` 5 %, 10 %", "`bet` 5 %, 10 %"], rows, runs, STUDY)


def prediction_correlation(trials):
    """Spearman's, of predicted with measured fitness after the first 15."""
    late = [t for t in trials if t["iteration"] > 15 and t["predicted"] is not None]
    return _rank_correlation([t["predicted"] for t in late], [t["fitness"] for t in late])


def _first_search():
    """(data, budget, seed) and its runs of the first study, by column."""
    runs, literal = read("h200/search.jsonl"), read("h200/search-literal.jsonl")
    keys = [(run.data, run.budget, run.seed) for run in literal]
    for data, budget, seed in keys:
        here = select(runs, data=data, budget=budget, seed=seed)
        kind = {"bet": [], "random": [], "sided": [], "empty": [], "users": []}
        for run in here:
            least_zero = "--min-dim" in run.options and "0" in run.options
            name = ("random" if "random" in run.options else
                    "users" if run.method == "sided" and least_zero else
                    "sided" if run.method == "sided" else "empty" if least_zero else "bet")
            kind[name].append(run)
        row = {name: found[0] for name, found in kind.items() if len(found) == 1}
        row["literal"] = one(literal, data=data, budget=budget, seed=seed)
        yield (data, budget, seed), row


def first_search():
    paper = Paper()
    rows, used = [], []
    for (data, budget, seed), row in _first_search():
        published = " / ".join(paper.value(data, "lightgcn", "bet", budget, metric)
                               for metric in ("recall@20", "ndcg@20"))
        runs = [row[name] for name in ("bet", "random", "sided", "empty", "users", "literal")]
        rows.append([f"{NAMES[data]} {percent(budget)}, {seed}", published, *map(quality, runs)])
        used += runs
    return table(["data, budget, seed", "paper's BET", "`bet`, `--min-dim 1`", "`--selection random`",
                  "`sided`, users' share 0.9", "`bet`, `--min-dim 0`", "users only",
                  "predictor as published"], rows, used, STUDY)


def first_search_cost():
    rows, used = [], []
    correlation = lambda run: f"{prediction_correlation(run.report['trials']):.2f}"
    for (data, budget, seed), row in _first_search():
        run, seconds = row["bet"], row["bet"].report["seconds"]
        times = ", ".join(f"{seconds[phase]:.1f}" for phase in ("pretrain", "search", "retrain", "final"))
        rows.append([f"{NAMES[data]} {percent(budget)}, {seed}", f"{times}, {run.fields['seconds']:.1f}",
                     f"{seconds['search_waited']:.2f}", f"{run.report['peak_rss_bytes'] / 1e9:.2f}",
                     run.report["chosen"]["largest_size"], correlation(run), correlation(row["empty"]),
                     correlation(row["literal"])])
        used += [run, row["empty"], row["literal"]]
    return table(["data, budget, seed", "pretraining, search, retraining, final, whole run, s",
                  "probes waited, s", "peak memory, GB", "largest size", "rank correlation",
                  "with `--min-dim 0`", "predictor as published"], rows, used, STUDY)


def search_versions():
    first = {(key[0], key[1]): row["bet"] for key, row in _first_search() if key[2] == 1}
    rows, used = [], []
    for data in ("gowalla", "yelp2018"):
        for budget in BUDGETS:
            spread = one(read("h200/search-spread.jsonl"), data=data, budget=budget)
            runs = [first[data, budget], spread, *search_runs(data, budget)]
            rows.append([f"{NAMES[data]} {percent(budget)}", *map(validation_and_test, runs)])
            used += runs
    return table(["data, budget", "first study, `--min-dim 1`, `--effort paper`",
                  "rules spread over the shares", *(f"now, {name}" for name in SEARCH_COLUMNS)], rows,
                 used, STUDY)


def _by_seed(runs):
    values = [run.recall() for run in sorted(runs, key=lambda run: run.seed)]
    return f"{', '.join(f'{v:.4f}' for v in values)}; mean {statistics.mean(values):.4f}"


def demo_lineup():
    runs = read("demo-lineup.jsonl")
    rows, used = [], []
    for method in BUDGETED:
        cells = [select(runs, method=method, budget=budget) for budget in ("5%", "10%")]
        rows.append([f"`{method}`", *map(_by_seed, cells), commits(cells[0] + cells[1])])
        used += cells[0] + cells[1]
    return table(["method", "5 %", "10 %", "commit"], rows, used, STUDY)


def demo_own_size():
    runs = read("demo-lineup.jsonl")
    rows, used = [], []
    for method in ("esapn", "optembed"):
        own = sorted(select(runs, method=method), key=lambda run: run.seed)
        same = [one(runs, method="bet", seed=run.seed, budget=f"{run.report['used']['params']}p")
                for run in own]
        shares = ", ".join(f"{100 * run.report['used']['share']:.2f} %" for run in own)
        rows.append([f"`{method}`", shares, _by_seed(own), _by_seed(same)])
        used += own + same
    return table(["method", "share reached", "test R@20", "`bet` at that size"], rows, used, STUDY)


def ciess_weight():
    runs = select(read("h200/methods-ciess.jsonl"), data="gowalla", budget="20%")
    weight = lambda run: (run.options[run.options.index("--memory-weight") + 1]
                          if "--memory-weight" in run.options else "1 (the default)")
    rows = [[weight(run), f"{run.recall('validation'):.4f}", f"{run.recall():.4f}{reached(run)}", run.commit]
            for run in runs]
    return table(["λ (`--memory-weight`)", "validation R@20", "test R@20", "commit"], rows, runs, STUDY)


def updates():
    header, rows = update_lines.rows()
    return table(header, rows, read(update_lines.FILE))


def scale(file):
    header, rows = scale_lines.rows(file)
    return table(header, rows, [run for run in read(file) if "millions" in run.fields], timing=True)


def ranks():
    """The search in several processes: seconds of each run, and how much of them each process trained for."""
    runs = read("ranks.jsonl")
    rows = []
    for options in unique(" ".join(run.options) for run in runs):
        here = [run.fields for run in runs if " ".join(run.options) == options]
        seconds = {size: [run["seconds"]["search"] for run in here if run["ranks"] == size] for size in (1, 2, 4)}
        busy = {size: statistics.mean(run["trained"] / size / run["seconds"]["search"] for run in here if run["ranks"] == size)
                for size in (2, 4)}
        means = {size: statistics.mean(values) for size, values in seconds.items()}
        texts = {size: ", ".join(f"{value:.1f}" for value in values) for size, values in seconds.items()}
        effort = here[0]["command"][here[0]["command"].index("--effort") + 1] if "--effort" in here[0]["command"] else "normal"
        rows.append([f"`--effort {effort}`, {here[0]['trainings']} trainings", texts[1], texts[2], f"{means[1] / means[2]:.2f}",
                     f"{100 * busy[2]:.0f} %", texts[4], f"{100 * busy[4]:.0f} %"])
    return table(["search", "1 process, s", "2 processes, s", "speed-up", "of the time each trains", "4 processes on the two cores, s",
                  "of the time each trains"], rows, runs, timing=True)


TABLES = {
    "scale": lambda: scale(scale_lines.FILE),
    "scale-100m": lambda: scale("scale-100m.jsonl"),
    "ranks": ranks,
    "updates": updates,
    "methods-gowalla": lambda: methods("gowalla"),
    "methods-yelp2018": lambda: methods("yelp2018"),
    "own-size": own_size,
    "full-size": full_size,
    "backbones": backbones,
    "methods-dense": methods_dense,
    "search-options": search_options,
    "small-data": small_data,
    "gpu-peers": gpu_peers,
    "gpu-joined": gpu_joined,
    "schedule-variants": schedule_variants,
    "first-fits": first_fits,
    "lengths-first": lambda: lengths("lengths-before", "lengths"),
    "lengths-rates": lambda: lengths("lengths", "lengths-rates"),
    "rates": rates,
    "ncf-rates": ncf_rates,
    "plan-choice": plan_choice,
    "quick-beside-equal": quick_beside_equal,
    "lengths-fresh": lambda: lengths("lengths-fresh-before", "lengths-fresh"),
    "final-training": final_training,
    "first-search": first_search,
    "first-search-cost": first_search_cost,
    "search-versions": search_versions,
    "demo-lineup": demo_lineup,
    "demo-own-size": demo_own_size,
    "ciess-weight": ciess_weight,
    "loss-by-length": loss_by_length,
    "loss-on-small-data": loss_on_small_data,
    "loss-cells": loss_cells,
    "search-rungs": search_rungs,
    "search-rungs-dense": search_rungs_dense,
    "search-middle": search_middle,
    "search-seeds": search_seeds,
    "short-trainings": short_trainings,
    "bits-search": bits_search,
    "bits-mf": bits_mf,
    "bits-files": bits_files,
    "bits-plans-gowalla": lambda: bits_plans("gowalla"),
    "bits-plans-yelp2018": lambda: bits_plans("yelp2018"),
    "loss-grid": lambda: loss_grid(("gowalla", "yelp2018"), ("lightgcn",), ("400", "800")),
    "loss-short": lambda: loss_grid(("gowalla", "yelp2018"), ("lightgcn",), ("100",)),
    "loss-backbones": lambda: loss_grid(("gowalla", "yelp2018"), ("mf", "ngcf", "ncf")),
    "loss-small": lambda: loss_grid(("ml-100k", "ml-latest-small", "demo"), ("lightgcn",)),
    "loss-settings": loss_settings,
    **temperatures.TABLES,
    **experiments.TABLES,
}
