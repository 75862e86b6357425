"""docs/curve.svg: quality against memory, one panel per data set, from the committed result files."""
import math
import statistics

from results.lines import Paper, read, select
from results.svg_parts import svg_card, svg_text

WIDTH, HEIGHT = 820, 400
PANELS = (("gowalla", "Gowalla", 64), ("yelp2018", "Yelp2018", 464))
PANEL_WIDTH, TOP, BOTTOM = 320, 64, 306
SHARES = (0.5, 1, 2, 5, 10, 20)  # of the bytes of the full table, in percent
LEAST, MOST = 0.4, 26

LIGHT = """.full { stroke: #59636e; stroke-width: 1.5; stroke-dasharray: 6 4 }
.line { fill: none; stroke-width: 2.5 }
.bar { stroke-width: 1.5 }
.bet { stroke: #0969da } .bet-fill { fill: #0969da }
.paper { stroke: #b35900 } .paper-fill { fill: #b35900 }
.es { stroke: #6e7781 } .es-fill { fill: #6e7781 }
"""
DARK = """  .full { stroke: #9198a1 }
  .bet { stroke: #58a6ff } .bet-fill { fill: #58a6ff }
  .paper { stroke: #f0883e } .paper-fill { fill: #f0883e }
  .es { stroke: #9198a1 } .es-fill { fill: #9198a1 }
"""


def svg():
    body = []
    for data, name, left in PANELS:
        body += _panel(data, name, left)
    for line, words in enumerate((
            "LightGCN; share of the bytes of the full fp32 table (36 MB), logarithmic. bet: --budget 0.5%B to 5%B, means over seeds,",
            "bars from the lowest to the highest. In fp32 the same share of the parameters: equal sizes (ours, BPR), BET as published.")):
        body.append(svg_text(WIDTH / 2, HEIGHT - 34 + 16 * line, words, "small", "middle"))
    return svg_card((WIDTH, HEIGHT), "Recall@20 against the memory of the embedding table",
                    "Recall@20 on test items against the memory of the embedding table",
                    (LIGHT, DARK), body)


def _series(data):
    """(class, label, {share: recalls by seed}) of each line."""
    bits = read(f"h200/bits-{data}/results.csv")
    fp32 = select(read("h200/table1/results.csv"), data=data, backbone="lightgcn", method="es")
    paper = Paper()

    def by_budget(runs, budgets):
        return {float(budget.rstrip("%B")): [run.recall() for run in select(runs, budget=budget)] for budget in budgets}

    parameters = ("5%", "10%", "20%")
    published = {float(budget[:-1]): [float(paper.value(data, "lightgcn", "bet", budget))] for budget in parameters}
    return (("bet", "bet", by_budget(select(bits, method="bet"), ("0.5%B", "1%B", "2%B", "5%B"))),
            ("paper", "BET, published", published), ("es", "equal sizes, fp32", by_budget(fp32, parameters)))


def _panel(data, name, left):
    series = _series(data)
    full = statistics.mean(run.recall() for run in select(read(f"h200/bits-{data}/results.csv"), method="full"))
    highest = full * 1.08
    lowest = min(min(recalls) for _, _, points in series for recalls in points.values()) * 0.85
    step = 0.02 if highest > 0.15 else 0.01

    def x_of(share):
        return left + PANEL_WIDTH * math.log(share / LEAST) / math.log(MOST / LEAST)

    def y_of(recall):
        return BOTTOM - (BOTTOM - TOP) * (recall - lowest) / (highest - lowest)

    parts = []
    for index in range(math.ceil(lowest / step), math.floor(highest / step) + 1):
        y = y_of(index * step)
        parts.append(f'<line class="grid" x1="{left}" x2="{left + PANEL_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(svg_text(left - 8, y + 4, f"{index * step:.2f}", "small", "end"))
    for share in SHARES:
        parts.append(svg_text(x_of(share), BOTTOM + 18, f"{share} %", "small", "middle"))
    parts.append(svg_text(left, TOP - 8, name))
    y = y_of(full)
    parts.append(f'<line class="full" x1="{left}" x2="{left + PANEL_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
    parts.append(svg_text(left + PANEL_WIDTH, y - 6, f"full size: {full:.3f}", "small", "end"))
    for kind, label, points in series:
        means = [(x_of(share), y_of(statistics.mean(recalls))) for share, recalls in sorted(points.items())]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in means)
        parts.append(f'<polyline class="line {kind}" points="{path}"/>')
        for share, recalls in points.items():
            x, low, high = x_of(share), y_of(min(recalls)), y_of(max(recalls))
            parts.append(f'<line class="bar {kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>')
        parts += [f'<circle class="{kind}-fill" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in means]
        parts.append(_label(label, means, kind))
    return parts


def _label(label, means, kind):
    """At the left end of the lines of bet and of equal sizes, which is lowest; at the right end of the paper's."""
    x, y = means[-1] if kind == "paper" else means[0]
    across, down, anchor = {"bet": (-4, -14, "start"), "es": (10, 12, "start"), "paper": (8, -10, "end")}[kind]
    return svg_text(x + across, y + down, label, f"{kind}-fill", anchor)
