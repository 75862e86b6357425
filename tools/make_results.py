#!/usr/bin/env python3
"""Writes the tables of the documentation, the pictures from the committed files in docs/results.

  tools/make_results.py            rewrites what has changed
  tools/make_results.py --check    changes nothing; fails if a document is not what the files give

A table stands in a document between the lines `<!-- table NAME -->` and `<!-- end table -->`, where
NAME is one of tools/results/tables.py. Everything else in a document is written by hand. The files are
results.csv of `bet compare` and `bet experiment`, and older ones with a JSON line for each run; the commit
of a run is in docs/results/sources.json unless its line has it.
"""
import re
import sys

sys.dont_write_bytecode = True
from results import curve, scale, updates  # noqa: E402
from results.lines import ROOT  # noqa: E402
from results.tables import TABLES  # noqa: E402

MARKED = re.compile(r"<!-- table (\S+) -->\n.*?<!-- end table -->", re.DOTALL)


def fill(path, used):
    """The document's text with all its tables made anew."""

    def made(match):
        name = match[1]
        if name not in TABLES:
            sys.exit(f"{path}: there is no table '{name}'")
        used.add(name)
        return f"<!-- table {name} -->\n{TABLES[name]()}\n<!-- end table -->"

    return MARKED.sub(made, path.read_text())


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    check = sys.argv[1:] == ["--check"]
    used = set()
    documents = [ROOT / "docs" / "results.md", ROOT / "docs" / "scale.md", *sorted((ROOT / "docs" / "studies").glob("*.md"))]
    texts = {path: fill(path, used) for path in documents}
    texts[ROOT / "docs" / "curve.svg"] = curve.svg()
    texts[ROOT / "docs" / "update.svg"] = updates.svg()
    texts[ROOT / "docs" / "scale.svg"] = scale.svg()
    if unused := TABLES.keys() - used:
        sys.exit(f"tables that no document shows: {', '.join(sorted(unused))}")
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if not check:
            path.write_text(texts[path])
        print(f"{path.relative_to(ROOT)}: {'is not what docs/results gives' if check else 'written'}")
    if check and stale:
        sys.exit("run tools/make_results.py")


if __name__ == "__main__":
    main()
