#!/usr/bin/env python3
"""Checks the relative links of all Markdown files of the repository: the file exists, and the heading too."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)|<img[^>]*src=\"([^\"]+)\"")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def anchor(heading):
    """GitHub's anchor of a heading."""
    text = re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", ""))
    return text.replace(" ", "-")


def anchors(path):
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)}


def main():
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT,
                           capture_output=True, text=True, check=True).stdout.split()
    wrong, count = [], 0
    for name in names:
        for match in LINK.finditer(CODE.sub("", (ROOT / name).read_text())):
            link = match[1] or match[2]
            if re.match(r"[a-z]+:", link):
                continue
            count += 1
            file, _, heading = link.partition("#")
            target = (ROOT / name).parent / file if file else ROOT / name
            if not target.exists():
                wrong.append(f"{name}: there is no {link}")
            elif heading and heading not in anchors(target):
                wrong.append(f"{name}: {link} names no heading of {target.name}")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{count} links in {len(names)} documents are good")


if __name__ == "__main__":
    main()
