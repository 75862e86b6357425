"""What the pictures of docs/ have in common: a card that follows the reader's light or dark colours."""

LIGHT = """
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 15px }
.small { fill: #59636e; font-size: 12px }
.card { fill: #ffffff; stroke: #d1d9e0 }
.grid { stroke: #d1d9e0; stroke-width: 1 }
"""
DARK = """  text { fill: #f0f6fc }
  .small { fill: #9198a1 }
  .card { fill: #0d1117; stroke: #3d444d }
  .grid { stroke: #3d444d }
"""


def svg_text(x, y, words, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{words}</text>'


def svg_card(size, label, title, styles, body):
    """A whole file: `size` is width and height, `styles` the picture's own rules for light and for dark colours."""
    width, height = size
    light, dark = styles
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{label}">\n'
            f"<style>{LIGHT}{light}@media (prefers-color-scheme: dark) {{\n{DARK}{dark}}}\n</style>\n"
            f'<rect class="card" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>\n'
            + "\n".join([svg_text(24, 30, title, "title"), *body]) + "\n</svg>\n")
