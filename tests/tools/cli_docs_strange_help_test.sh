#!/usr/bin/env bash
# tools/cli_docs/make.py reads help of every shape that CLI11 writes, and refuses what it does not
# understand instead of leaving it out.
set -euo pipefail
make_docs=$(cd "$(dirname "$0")/../../tools/cli_docs" && pwd)/make.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "cli_docs: $*" >&2; exit 1; }
printf '@OPTIONS@\n' >"$work/template"
# help_is TEXT: a program that answers so.
help_is() { printf '#!/bin/sh\ncat <<"END"\n%s\nEND\n' "$1" >"$work/odd"; chmod +x "$work/odd"; }
make_page() { python3 -B "$make_docs" "$work/odd" "$work/template" 1 "$work/share" 2>&1; }

usage='a program
Usage: odd [OPTIONS]

Limits:'
help_is "$usage
  -h,--help                   help
  --just-below-the-colum TEXT behind one space
  --reaches-the-column UINT:INT in [1 - 9]=3
                              on the next line
  --bare"
make_page || fail "refused"
page=$(zcat "$work/share/man/man1/odd.1.gz")
for wanted in '\fB\-\-just\-below\-the\-colum\fR \fItext\fR' 'behind one space' '\fB\-\-reaches\-the\-column\fR \fInumber\fR' \
    'on the next line (1 to 9; default 3)' '\fB\-\-bare\fR'; do
  grep -qxF -- "$wanted" <<<"$page" || fail "no '$wanted' in: $page"
done

for strange in 'A footer.' '  --odd WHAT?IS THIS           said'; do
  help_is "$usage
$strange"
  if out=$(make_page); then fail "accepted '$strange'"; fi
  grep -q 'is not understood' <<<"$out" || fail "said of '$strange': $out"
done
