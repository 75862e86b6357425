#!/usr/bin/env python3
"""make.py PROGRAM TEMPLATE VERSION SHARE: writes the man page and the completions of a program
below the folder SHARE, as they are installed below PREFIX/share. The options come from the
program's --help alone, so that they are described in one place; TEMPLATE has the prose."""

import gzip
import pathlib
import sys

import completion
import help_text
import man_page


def main(program, template, version, share):
    name = pathlib.Path(program).name
    described = help_text.ask(program, name)
    page = man_page.man_page(described, pathlib.Path(template).read_text("utf-8"), version)
    files = {
        # Without a time stamp: the same page, the same bytes.
        f"man/man1/{name}.1.gz": gzip.compress(page.encode(), mtime=0),
        f"bash-completion/completions/{name}": completion.bash(described).encode(),
        f"zsh/vendor-completions/_{name}": completion.zsh(described).encode(),
        f"fish/vendor_completions.d/{name}.fish": completion.fish(described).encode(),
    }
    for path, content in files.items():
        file = pathlib.Path(share) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except ValueError as error:
        sys.exit(f"make.py: {error}")
