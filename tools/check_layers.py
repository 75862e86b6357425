#!/usr/bin/env python3
"""Fails on an include against the arrows of docs/architecture.md, and on a library header in a
folder that may not use it."""
import pathlib
import re
import sys

# Folder -> folders of src/ that it may include, besides itself.
ALLOWED = {
    "base": set(),
    "data": {"base"},
    "kernels": {"base"},
    "plan": {"base"},
    "ranks": {"base"},
    "model": {"base", "data", "kernels", "plan"},
    "train": {"base", "data", "kernels", "plan", "model"},
    "search": {"base", "data", "kernels", "plan", "model", "train", "ranks"},
    "baselines": {"base", "data", "kernels", "plan", "model", "train", "search"},
    "runtime": {"base"},
    "wasm": {"base", "runtime"},
    "report": {"base"},
    "command_line": {"base"},
    # plan: budgets are read in one place; data: what `update` adds
    "serve": {"base", "data", "runtime", "plan", "command_line"},
    "run": {"base", "data", "kernels", "plan", "ranks", "model", "train", "search", "baselines",
            "runtime", "report"},
    "cli": {"base", "data", "plan", "ranks", "command_line", "run", "serve"},  # serve: the command `update`
}
# Library header prefix -> folders that may include it.
LIBRARIES = {
    r"(torch|ATen|c10)/": {"ranks", "model", "train", "search", "baselines", "run"},
    r"(CLI|spdlog|fmt)/": {"cli", "serve", "command_line"},
    r"toml\+\+/": {"run"},
    r"(curl|minizip|openssl)/|zlib.h": {"data"},
    r"zstd.h": {"data", "serve"},
    r"sqlite3.h": {"search"},
    r"httplib.h": {"serve"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def problems(root: pathlib.Path):
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in {".h", ".cpp", ".cu", ".cuh", ".inc"}:
            continue
        folder = path.relative_to(root / "src").parts[0]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            kind, name = match.groups()
            where = f"{path.relative_to(root)}:{number}"
            if folder not in ALLOWED:
                yield f"{where}: folder src/{folder} is not in the list of layers"
            elif kind == '"':
                target = name.split("/")[0]
                if "/" not in name:
                    yield f'{where}: "{name}" does not name its folder'
                elif target != folder and target != "bet" and target not in ALLOWED[folder]:
                    yield f"{where}: src/{folder} may not include src/{target}"
            else:
                for pattern, folders in LIBRARIES.items():
                    if re.match(pattern, name) and folder not in folders:
                        yield f"{where}: src/{folder} may not include <{name}>"


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    root = root if root.is_dir() else root.parent.parent
    found = list(problems(root))
    print("\n".join(found) if found else "layers: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
