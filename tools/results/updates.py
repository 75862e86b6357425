"""docs/update.svg and its table: an update against training again and doing nothing (tools/measure_update.py)."""
from results.svg_parts import svg_card, svg_text
from results.lines import read

FILE = "update.jsonl"
DATA = (("ml-100k", "MovieLens 100k"), ("gowalla", "Gowalla"))
KINDS = {"lightgcn-graph": "LightGCN, table and graph", "lightgcn-materialised": "LightGCN, vectors without graph",
         "mf": "MF", "ncf": "NCF"}
QUESTIONS = (("later", "known users"), ("users", "new users"), ("items", "new items"))
VARIANTS = (("no update", "none"), ("update", "update"), ("trained again", "again"))

WIDTH, HEIGHT = 820, 330
PANELS = (64, 464)
PANEL_WIDTH, TOP, BOTTOM = 320, 84, 254
BAR, GAP = 26, 5

LIGHT = """.none { fill: #8c959f } .update { fill: #0969da } .again { fill: #b35900 }
"""
DARK = """  .none { fill: #6e7681 } .update { fill: #58a6ff } .again { fill: #f0883e }
"""


def _recalls():
    """(data, kind, question, variant) -> R@20."""
    return {tuple(run.fields[name] for name in ("data", "kind", "question", "variant")): run.fields["recall"]
            for run in read(FILE)}


def rows():
    """Header and rows of the table."""
    recalls = _recalls()
    header = ["data", "file", *(f"{name}: {variant}" for _, name in QUESTIONS for variant, _ in VARIANTS)]
    cells = []
    for data, name in DATA:
        for kind, words in KINDS.items():
            figures = [recalls.get((data, kind, question, variant)) for question, _ in QUESTIONS
                       for variant, _ in VARIANTS]
            if any(figure is not None for figure in figures):
                cells.append([name, words, *("" if figure is None else f"{figure:.4f}" for figure in figures)])
    return header, cells


def svg():
    recalls = _recalls()
    body = []
    for (data, name), left in zip(DATA, PANELS):
        body += _panel(recalls, data, name, left)
    x = PANELS[0]
    for variant, kind in VARIANTS:
        body.append(f'<rect class="{kind}" x="{x}" y="{HEIGHT - 44}" width="12" height="12"/>')
        body.append(svg_text(x + 18, HEIGHT - 34, variant, "small"))
        x += 120
    body.append(svg_text(24, HEIGHT - 12, "LightGCN by graph, equal sizes, 10 % of the parameters, BPR; seed 1; "
                     "docs/results.md says what is trained, added and tested", "small"))
    return svg_card((WIDTH, HEIGHT), "Recall@20 without an update, with one, and after training again",
                    "Recall@20 after an update without training, and after training again",
                    (LIGHT, DARK), body)


def _panel(recalls, data, name, left):
    values = {(question, variant): recalls[data, "lightgcn-graph", question, variant]
              for question, _ in QUESTIONS for variant, _ in VARIANTS
              if (data, "lightgcn-graph", question, variant) in recalls}
    highest = 1.1 * max(values.values())
    y_of = lambda recall: BOTTOM - (BOTTOM - TOP) * recall / highest
    parts = [svg_text(left, TOP - 20, name)]
    step = 0.05
    for index in range(int(highest / step) + 1):
        y = y_of(index * step)
        parts.append(f'<line class="grid" x1="{left}" x2="{left + PANEL_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(svg_text(left - 8, y + 4, f"{index * step:.2f}", "small", "end"))
    group = PANEL_WIDTH / len(QUESTIONS)
    for place, (question, words) in enumerate(QUESTIONS):
        x = left + place * group + (group - 3 * BAR - 2 * GAP) / 2
        for variant, kind in VARIANTS:
            value = values.get((question, variant))
            if value is not None:
                y = y_of(value)
                parts.append(f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{BAR}" height="{BOTTOM - y:.1f}">'
                             f"<title>{words}, {variant}: {value:.4f}</title></rect>")
                parts.append(svg_text(x + BAR / 2, y - 4, f"{value:.3f}"[1:], "small", "middle"))
            x += BAR + GAP
        parts.append(svg_text(left + (place + 0.5) * group, BOTTOM + 18, words, "small", "middle"))
    return parts
