"""The tables of docs/studies/loss.md about the temperature: by the length of a training, and where it is chosen."""
import math

from results.layout import NAMES, percent, table
from results.lines import read, select

STUDY = "../results"


def parabola(points):
    """The temperature and the score at the top of the parabola, on a logarithmic scale, through the best of `points`
    (pairs of these) and its neighbours, and its curvature by octave; None if the best is the first or the last one."""
    points = sorted(points)
    best = max(range(len(points)), key=lambda i: points[i][1])
    if best in (0, len(points) - 1):
        return None
    (_, low), (temperature, top), (_, high) = points[best - 1:best + 2]
    curvature = low - 2 * top + high
    octaves = (low - high) / (2 * curvature)
    return temperature * 2 ** octaves, top - curvature * octaves ** 2 / 2, curvature


def by_length():
    """The best temperature after 200, 400 and 800 steps, and what is lost where the one of 800 is twice that of 400."""
    runs = [run for run in read("h200/temperatures.jsonl")
            if run.fields["precision"] == "fp32" and run.fields["loss"] == "softmax"]
    rows = []
    for data, budget, plan, fold in dict.fromkeys(
            (run.data, run.fields["budget"], run.fields["plan"], run.fields["fold"]) for run in runs):
        tops = {}
        for steps in (200, 400, 800):
            points = [(run.fields["temperature"], run.fields["score"]) for run in select(runs, data=data)
                      if run.fields["budget"] == budget and run.fields["plan"] == plan
                      and run.fields["fold"] == fold and run.fields["steps"] == steps]
            tops[steps] = parabola(points) if points else None
        if tops[400] is None or tops[800] is None:
            continue
        ratio = tops[800][0] / tops[400][0]
        off = math.log2(2 * tops[400][0] / tops[800][0])
        lost = -tops[800][2] * off ** 2 / 2 / tops[800][1]
        rows.append([f"{NAMES[data]} {percent(budget)}", plan, fold,
                     *(f"{tops[steps][0]:.1f}" if tops[steps] else "" for steps in (200, 400, 800)),
                     f"{math.log2(ratio):.1f}", f"{100 * lost:.1f} %"])
    return table(["data, budget", "plan", "third held out", "best after 200 steps", "400", "800",
                  "power of the length", "lost by twice that of 400"], rows, runs, STUDY)


def by_rate():
    """Integers at the usual rate and at twice of it: the best of the temperatures that were tried."""
    runs = [run for run in read("h200/temperatures.jsonl") if run.fields["precision"] != "fp32"]
    rows = []
    for data, budget, precision, plan in dict.fromkeys(
            (run.data, run.fields["budget"], run.fields["precision"], run.fields["plan"]) for run in runs):
        row = [f"{NAMES[data]} {percent(budget)}", precision, plan]
        for rate in (1, 2):
            points = [(run.fields["temperature"], run.fields["score"]) for run in select(runs, data=data)
                      if run.fields["budget"] == budget and run.fields["precision"] == precision
                      and run.fields["plan"] == plan and run.fields["rate"] == rate
                      and run.fields["loss"] == "softmax"]
            best = max(points, key=lambda point: point[1]) if len(points) > 2 else None
            row.append(f"{best[1]:.4f} ({best[0]:.3g})" if best else "not run")
        cosines = [run.fields["score"] for run in select(runs, data=data)
                   if run.fields["budget"] == budget and run.fields["precision"] == precision
                   and run.fields["plan"] == plan and run.fields["loss"] == "cosines"]
        row.append(f"{max(cosines):.4f}" if cosines else "not run")
        rows.append(row)
    return table(["data, budget", "rows", "plan", "usual rate (temperature)", "twice the rate (temperature)",
                  "cosines"], rows, runs, STUDY)


def choices():
    """Test figures of seed 1 with the temperature found by half trainings, by two laws, and by whole ones."""
    new = read("h200/temperature-choice.jsonl")
    before = new + [run for run in read("h200/loss-large.jsonl") if run.fields["loss"] == "auto"]
    now = read("temperature-choice-cpu.jsonl")
    used = []
    rows = []

    def cell(runs, data, method, budget):
        found = [run for run in select(runs, data=data, method=method, seed=1, backbone="lightgcn")
                 if run.fields["budget"] == budget]
        if not found:
            return "not run"
        used.append(found[0])
        return f"{found[0].fields['recall']:.4f} ({found[0].fields['chosen']})"

    for data in ("gowalla", "yelp2018"):
        cells = dict.fromkeys((run.method, run.fields["budget"]) for run in new + now if run.data == data)
        for method, budget in sorted(cells, key=lambda one: (one[0], one[1].endswith("B"), -len(one[1]), one[1])):
            columns = [cell([run for run in before if run.commit != "abe30d0"], data, method, budget),
                       cell([run for run in new if run.commit == "abe30d0"], data, method, budget),
                       cell(now, data, method, budget)]
            rows.append([NAMES[data], f"`{method}` {percent(budget)}".strip(), *columns])
    return table(["data", "plan", "half trainings, temperature in proportion to the length",
                  "half trainings, to its power of 1.5", "whole trainings: now (two CPU cores)"], rows, used, STUDY)


TABLES = {"temperature-by-length": by_length, "temperature-by-rate": by_rate, "temperature-choices": choices}
