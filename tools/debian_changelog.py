#!/usr/bin/env python3
"""debian_changelog.py CHANGELOG.md MAINTAINER OUT.gz: writes the change log in Debian's format.
The date of a version is in brackets in its heading; an unreleased one gets the time of the build
(SOURCE_DATE_EPOCH where that is set). Headings within a version are left out."""

import email.utils
import datetime
import gzip
import os
import re
import sys
import textwrap
import time

HEADING = re.compile(r"^## (\S+) \((\S+)\)$", re.MULTILINE)
SUBHEADING = re.compile(r"^### .*$", re.MULTILINE)


def entry(version, when, points, maintainer):
    released = when != "unreleased"
    if released:
        stamp = datetime.datetime.fromisoformat(when).replace(tzinfo=datetime.timezone.utc)
    else:
        seconds = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
        stamp = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    lines = [f"bet ({version}) {'unstable' if released else 'UNRELEASED'}; urgency=medium", ""]
    for point in points:
        lines += textwrap.wrap(" ".join(point.split()), 76, initial_indent="  * ",
                               subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(lines + ["", f" -- {maintainer}  {email.utils.format_datetime(stamp)}", ""])


def main(source, maintainer, target):
    with open(source, encoding="utf-8") as file:
        _, *parts = HEADING.split(SUBHEADING.sub("", file.read()))  # version, date, text, version, ..
    if not parts:
        sys.exit(f"debian_changelog.py: {source} has no heading '## VERSION (DATE)'")
    entries = [entry(version, when, re.split(r"^\* ", text, flags=re.MULTILINE)[1:], maintainer)
               for version, when, text in zip(parts[::3], parts[1::3], parts[2::3])]
    with open(target, "wb") as file:
        file.write(gzip.compress("\n".join(entries).encode(), mtime=0))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
