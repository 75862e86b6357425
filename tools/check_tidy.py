#!/usr/bin/env python3
"""tools/check_tidy.py [all]: clang-tidy over the sources of src/ that changed in the four hours before the last commit or were
not committed; over all of them where the history does not reach as far. With `all`: over all, which is for changed rules
too, and by its static analyzer, which takes twice as long as everything else.

Most of the time would go into the headers of LibTorch, JSON and the standard library. Files that are compiled for the same
machine are therefore looked at together, as one file that includes them. clang-tidy 14 cannot parse LibTorch 1.13's headers
as C++20; 16 can.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/tidy"
TOGETHER = 40
RECENT = 4 * 3600  # seconds; what is landed together was made in less
# The analyzer treats files that a main file includes as its own only if its name has this word.
NAME = "UnifiedSource"
# clang needs this header of LibTorch before the others.
FIRST = ["-include", "ATen/core/ivalue.h"]
OF_TORCH = "-D_GLIBCXX_USE_CXX11_ABI=1"  # its targets have it
# The first: files that are looked at together are included.
LEFT_OUT = ["-bugprone-suspicious-include"]
# Only with `all`. Names that are reserved have other forms than ours, which readability-identifier-naming looks for, and
# looking for them takes a tenth of the time.
FOR_ALL = ["-clang-analyzer-*", "-bugprone-reserved-identifier"]


def configure():
    """A build of its own: others precompile headers, for GCC, and compile files together in another way."""
    done = subprocess.run(["cmake", "--preset", "release", "-B", BUILD, "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON",
                           "-DBET_COMPILE_TOGETHER=OFF"], cwd=ROOT, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)


def commands():
    """How each source is compiled: what is not compiled here (CUDA, a missing library) cannot be looked at."""
    known = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if source.is_relative_to(ROOT / "src") and source.suffix == ".cpp":
            words = shlex.split(entry["command"])
            end = words.index("-o")
            known.setdefault(source, words[:end])
    return dict(sorted(known.items()))


def private_names(source):
    """What a file defines for itself, as macros or in its anonymous namespaces: two files with the same such name cannot be
    looked at together."""
    text = source.read_text()
    names = set(re.findall(r"^#define (\w+)", text, re.M))
    for private in re.findall(r"^namespace \{\n(.*?)^\}  // namespace\n", text, re.M | re.S):
        for line in re.findall(r"^(?!using|template)[A-Za-z].*", private, re.M):
            found = re.search(r"(?:struct|class|enum) (\w+)|^[^=]*?(\w+)\(|(\w+)(?: = |;|\{)", line)
            if found:
                names.update(name for name in found.groups() if name)
    return names


def git(*words):
    """The lines that git prints; None: it failed, or this is no clone."""
    done = subprocess.run(["git", *words], cwd=ROOT, text=True, capture_output=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else None


def recently_changed():
    """Files of src/; None: nobody knows."""
    last = git("log", "-1", "--format=%ct")
    before = last and git("rev-list", "-1", f"--before={int(last[0]) - RECENT}", "HEAD")
    if not before:
        return None
    files = (git("diff", "--name-only", "--no-renames", before[0], "--", "src") or []) + \
            (git("ls-files", "--others", "--exclude-standard", "--", "src") or [])
    return {ROOT / file for file in files if (ROOT / file).exists()}


def of_changes(sources, changed):
    """The sources among what changed. For a header: that of its name, or the first one that includes it."""
    chosen = {}
    texts = None
    for path in sorted(changed):
        if path.suffix == ".cpp":
            chosen |= {path: True}
        elif path.suffix in (".h", ".inc"):
            if path.with_suffix(".cpp") in sources:
                chosen |= {path.with_suffix(".cpp"): True}
                continue
            texts = texts or {source: source.read_text() for source in sources}
            line = f'#include "{path.relative_to(ROOT / "src")}"'
            chosen |= {source: True for source in [one for one in sources if line in texts[one]][:1]}
    return {source: words for source, words in sources.items() if source in chosen}


def told_apart(words):
    """What matters of how a file is compiled, and what may be given to all: places of headers, and macros. How well the
    compiler optimises does not matter here."""
    matters, shared = [], []
    rest = iter(words)
    for word in rest:
        if word == "-isystem":
            shared.append((word, next(rest)))
        elif re.match(r"-[DI]", word):
            shared.append((word,))
        elif not re.fullmatch(r"-O\w|-g\w?|-W.*|-fPI[CE]|-fopenmp|-fno-semantic-interposition|-fvisibility.*", word):
            matters.append(word)
    return tuple(matters), shared


def groups(sources):
    """(flags, sources that are looked at together); instruction sets have files of their own."""
    alike = {}
    for source, words in sources.items():
        matters, shared = told_apart(words)
        alike.setdefault((matters, OF_TORCH in words), []).append((source, shared))
    for (matters, _), members in alike.items():
        divided = []  # (sources, their private names, what they call, flags)
        for source, shared in members:
            names = private_names(source)
            # A function that another file has for itself would hide one of the same name from here.
            called = set(re.findall(r"(?<![.>])\b(\w+)\(", source.read_text()))
            # A macro has one value.
            macros = dict((one[0].split("=")[0], one) for one in shared if one[0].startswith("-D"))
            for group, known, calls, flags in divided:
                others = (one for one in flags if one[0].startswith("-D"))
                if len(group) < TOGETHER and not names & (known | calls) and not called & known and \
                        all(macros.get(one[0].split("=")[0], one) == one for one in others):
                    group.append(source)
                    known |= names
                    calls |= called
                    flags |= dict.fromkeys(shared)
                    break
            else:
                divided.append(([source], names, called, dict.fromkeys(shared)))
        for group, _, _, flags in divided:
            yield [*matters, *(word for flag in flags for word in flag)], group


def tidy(path, words, checks):
    """What clang-tidy says about a file; nothing: it is clean."""
    # Warnings are for the compiler to make errors of.
    words = [word for word in words[1:] if word != "-Werror"] + ["-Wno-unknown-warning-option", "-fno-openmp", "-ferror-limit=0"]
    if OF_TORCH in words:
        words += FIRST
    done = subprocess.run(["clang-tidy-16", "--quiet", "--config-file", ROOT / ".clang-tidy",
                           "--checks=" + ",".join(checks), path, "--", *words],
                          cwd=BUILD, text=True, capture_output=True, check=False)
    return "" if done.returncode == 0 else done.stdout or done.stderr or f"{path}: clang-tidy-16 failed"


def unified(name, members):
    path = BUILD / f"{NAME}-{name}.cpp"
    path.write_text("".join(f'#include "{source}"\n' for source in members))
    return path


def look_at(number, words, members, checks):
    """What was found: of all together or, where they cannot be parsed together after all, of each half."""
    found = tidy(unified(number, members), words, checks)
    if "clang-diagnostic-error" in found and len(members) > 1:
        half = len(members) // 2
        found = look_at(f"{number}a", words, members[:half], checks) + look_at(f"{number}b", words, members[half:], checks)
    return found


def main():
    everything = sys.argv[1:] == ["all"]
    checks = LEFT_OUT if everything else LEFT_OUT + FOR_ALL
    changed = None if everything else recently_changed()
    if changed is not None and not changed:
        print("tidy: no source changed in the last four hours")
        return
    configure()
    sources = commands()
    chosen = sources if changed is None else of_changes(sources, changed)
    work = sorted(groups(chosen), key=lambda group: (OF_TORCH not in group[0], -len(group[1])))
    clean = True
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        jobs = [pool.submit(look_at, number, *group, checks) for number, group in enumerate(work)]
        for job in concurrent.futures.as_completed(jobs):
            if job.result():
                clean = False
                print(job.result(), flush=True)
    if not clean:
        sys.exit(1)
    print(f"tidy: clean ({len(chosen)} of {len(sources)} files)")


if __name__ == "__main__":
    main()
