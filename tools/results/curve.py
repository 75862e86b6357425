"""docs/curve.svg: quality against memory, one panel per data set, from the committed result files."""
import math

from results.lines import one, read, select
from results.svg_parts import svg_card, svg_text

WIDTH, HEIGHT = 820, 380
PANELS = (("gowalla", "Gowalla", 64), ("yelp2018", "Yelp2018", 464))
PANEL_WIDTH, TOP, BOTTOM = 320, 64, 306
SERIES = (("bet", "bet"), ("pep", "PEP"), ("es", "equal sizes"))
TICKS_MB = (2, 5, 10, 20, 36)
LEAST_MB, MOST_MB = 1.5, 42

LIGHT = """.full { stroke: #59636e; stroke-width: 1.5; stroke-dasharray: 6 4 }
.line { fill: none; stroke-width: 2.5 }
.bet { stroke: #0969da } .bet-fill { fill: #0969da }
.pep { stroke: #b35900 } .pep-fill { fill: #b35900 }
.es { stroke: #6e7781 } .es-fill { fill: #6e7781 }
"""
DARK = """  .full { stroke: #9198a1 }
  .bet { stroke: #58a6ff } .bet-fill { fill: #58a6ff }
  .pep { stroke: #f0883e } .pep-fill { fill: #f0883e }
  .es { stroke: #9198a1 } .es-fill { fill: #9198a1 }
"""


def svg():
    body = []
    for data, name, left in PANELS:
        body += _panel(data, name, left)
    body.append(svg_text(WIDTH / 2, HEIGHT - 14, "LightGCN, budgets of 5, 10 and 20 % of the full table's "
                      "parameters; seed 1; docs/results.md", "small", "middle"))
    return svg_card((WIDTH, HEIGHT), "Recall@20 against the memory of the embedding table",
                    "Recall@20 on test items against the memory of the embedding table",
                    (LIGHT, DARK), body)


def _panel(data, name, left):
    runs = read(f"h200/methods-{data}.jsonl")
    full = one(select(read("h200/fits.jsonl"), data=data), method="full")
    highest = full.recall() * 1.08
    lowest = min(run.recall() for run in runs if run.method == "es") * 0.85
    step = 0.02 if highest > 0.15 else 0.01

    def x_of(bytes_):
        position = math.log(bytes_ / 1e6 / LEAST_MB) / math.log(MOST_MB / LEAST_MB)
        return left + PANEL_WIDTH * position

    def y_of(recall):
        return BOTTOM - (BOTTOM - TOP) * (recall - lowest) / (highest - lowest)

    parts = []
    for index in range(math.ceil(lowest / step), math.floor(highest / step) + 1):
        y = y_of(index * step)
        parts.append(f'<line class="grid" x1="{left}" x2="{left + PANEL_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(svg_text(left - 8, y + 4, f"{index * step:.2f}", "small", "end"))
    for tick in TICKS_MB:
        parts.append(svg_text(x_of(tick * 1e6), BOTTOM + 18, f"{tick} MB", "small", "middle"))
    parts.append(svg_text(left, TOP - 8, name))
    y = y_of(full.recall())
    parts.append(f'<line class="full" x1="{left}" x2="{left + PANEL_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
    full_mb = full.report["used"]["bytes"] / 1e6
    parts.append(svg_text(left + PANEL_WIDTH, y - 6, f"full size, {full_mb:.0f} MB: {full.recall():.3f}", "small",
                       "end"))
    for method, label in SERIES:
        found = sorted(select(runs, method=method), key=lambda run: run.report["used"]["bytes"])
        points = [(x_of(run.report["used"]["bytes"]), y_of(run.recall())) for run in found]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline class="line {method}" points="{path}"/>')
        parts += [f'<circle class="{method}-fill" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in points]
        parts.append(_label(label, points[-1], method, data))
    return parts


# Where lines end near each other, labels are moved apart: (data, method) -> pixels down.
LABEL_SHIFT = {("gowalla", "bet"): -6, ("gowalla", "pep"): 4, ("gowalla", "es"): 12,
               ("yelp2018", "es"): -2, ("yelp2018", "pep"): 8}


def _label(label, end, method, data):
    x, y = end
    return svg_text(x + 9, y + 4 + LABEL_SHIFT.get((data, method), 0), label, f"{method}-fill")
