"""docs/scale.svg and its table: what the phases of a run take against the size of the data (tools/measure_scale.py)."""
import math

from results.svg_parts import svg_card, svg_text
from results.lines import read

FILE = "scale.jsonl"
WIDTH, HEIGHT = 860, 410
PANELS = (66, 346, 626)
PANEL_WIDTH, TOP, BOTTOM = 200, 84, 262
COLOURS = {"a": ("#0969da", "#58a6ff"), "b": ("#b35900", "#f0883e"), "c": ("#1a7f37", "#3fb950"), "d": ("#8250df", "#a371f7")}
LIGHT = "".join(f".{name} {{ stroke: {light}; fill: {light} }} " for name, (light, _) in COLOURS.items()) + """
polyline { fill: none !important; stroke-width: 2 }
"""
DARK = "".join(f"  .{name} {{ stroke: {dark}; fill: {dark} }}\n" for name, (_, dark) in COLOURS.items())


def _fits(file=FILE):
    """One line for each size and width: of several runs, which other work slows down, the least of each figure."""
    best = {}
    for run in read(file):
        if "millions" in run.fields:
            key = run.fields["millions"], columns_of(run.fields)
            best[key] = _least(best[key], run.fields) if key in best else run.fields
    return [best[key] for key in sorted(best)]


def _least(one, other):
    if isinstance(one, dict):
        return {key: _least(value, other[key]) for key, value in one.items()}
    return min(one, other)


def columns_of(line):
    return line["params"] // (line["users"] + line["items"])


def rows(file=FILE):
    """Header and rows of the table."""
    header = ["interactions, million", "columns", "read and split, s", "a step, s", "a measurement, s", "model file, s",
              "file of vectors, s", "one user by graph, s", "1,000 users by vectors, s", "peak of training, MB", "of reading, MB"]
    cells = []
    for line in _fits(file):
        milliseconds = line["milliseconds"]
        cells.append([f"{line['millions']:g}", columns_of(line), f"{line['seconds']['load']:.2f}",
                      f"{milliseconds['train_step'] / 1000:.2f}", f"{milliseconds['measure'] / 1000:.2f}",
                      f"{line['seconds']['export']:.2f}", f"{line['export']['seconds']:.2f}", f"{line['serve_one']['seconds']:.2f}",
                      f"{line['serve_many']['seconds']:.2f}", f"{line['peak_rss_bytes'] / 1e6:.0f}",
                      f"{line['read']['peak_rss_bytes'] / 1e6:.0f}"])
    return header, cells


def svg():
    lines = _fits()
    widths = sorted({columns_of(line) for line in lines})
    work = lambda line: line["train"] * columns_of(line)
    series = lambda width, x, y: sorted((x(line), y(line)) for line in lines if columns_of(line) == width)
    million = lambda line: line["millions"]
    widest = widths[-1]
    seconds = lambda key: lambda line: line["seconds"][key]
    panels = (
        ("Seconds, by interactions", million, "million interactions",
         (("a", "read and split", series(widest, million, seconds("load"))),
          ("b", f"model file, {widest} columns", series(widest, million, seconds("export"))),
          ("c", "one answer by graph", series(widest, million, lambda line: line["serve_one"]["seconds"])),
          ("d", "1,000 answers by vectors", series(widest, million, lambda line: line["serve_many"]["seconds"])))),
        ("Seconds, by interactions × columns", work, "interactions to train on × columns",
         tuple((name, f"a {words}, {width} columns", series(width, work, lambda line, key=key: line["milliseconds"][key] / 1000))
               for (words, key), names in ((("step", "train_step"), "ab"), (("measurement", "measure"), "cd"))
               for width, name in zip((widths[0], widest), names))),
        ("Peak memory, MB", million, "million interactions",
         (("a", "reading", series(widest, million, lambda line: line["read"]["peak_rss_bytes"] / 1e6)),
          *((name, f"training, {width} columns", series(width, million, lambda line: line["peak_rss_bytes"] / 1e6))
            for width, name in zip((widths[0], widest), "bc")))))
    body = []
    for (title, _, below, curves), left in zip(panels, PANELS):
        body += _panel(title, below, curves, left)
    body.append(svg_text(24, HEIGHT - 10, "Both scales are logarithmic: what is in proportion rises as the dotted line. "
                                          "Two cores; docs/scale.md has the figures", "small"))
    return svg_card((WIDTH, HEIGHT), "Seconds and memory of the phases of a run against the size of the data",
                    "What a run takes as the data grow", (LIGHT, DARK), body)


def _panel(title, below, curves, left):
    xs = [x for _, _, points in curves for x, _ in points]
    ys = [y for _, _, points in curves for _, y in points]
    low, high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))
    x_of = lambda x: left + PANEL_WIDTH * math.log(x / min(xs)) / math.log(max(xs) / min(xs))
    y_of = lambda y: BOTTOM - (BOTTOM - TOP) * (math.log10(y) - low) / (high - low)
    parts = [svg_text(left, TOP - 22, title)]
    for power in range(low, high + 1):
        y = y_of(10 ** power)
        parts.append(f'<line class="grid" x1="{left}" x2="{left + PANEL_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(svg_text(left - 8, y + 4, f"{10 ** power:g}", "small", "end"))
    for x, anchor in (min(xs), "start"), (max(xs), "end"):
        words = f"{x:g}" if x < 1000 else f"{x / 1e6:.0f} million"
        parts.append(svg_text(x_of(x), BOTTOM + 16, words, "small", anchor))
    parts.append(svg_text(left + PANEL_WIDTH / 2, BOTTOM + 32, below, "small", "middle"))
    start = min(ys)
    share = min(1, (high - math.log10(start)) / math.log10(max(xs) / min(xs)))
    end = min(xs) * (max(xs) / min(xs)) ** share
    parts.append(f'<line class="grid" stroke-dasharray="3 4" x1="{x_of(min(xs)):.1f}" y1="{y_of(start):.1f}" '
                 f'x2="{x_of(end):.1f}" y2="{y_of(start * end / min(xs)):.1f}"/>')
    for place, (name, words, points) in enumerate(curves):
        parts.append(f'<polyline class="{name}" points="{" ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in points)}"/>')
        parts += [f'<circle class="{name}" cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="3"><title>{words}: {y:.3g}</title></circle>'
                  for x, y in points]
        x, y = left, BOTTOM + 54 + 17 * place
        parts.append(f'<circle class="{name}" cx="{x}" cy="{y - 4}" r="4"/>')
        parts.append(svg_text(x + 8, y, words, "small"))
    return parts
