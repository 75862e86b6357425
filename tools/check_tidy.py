#!/usr/bin/env python3
"""tools/check_tidy.py [all]: clang-tidy over all sources of src/; without `all` not by its static analyzer, which takes
twice as long as everything else.

Most of the time would go into the headers of LibTorch, JSON and the standard library. Files of a folder that are compiled
in the same way are therefore looked at together, as one file that includes them. clang-tidy 14 cannot parse LibTorch
1.13's headers as C++20; 16 can.
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
TOGETHER = 20
# The analyzer treats files that a main file includes as its own only if its name has this word.
NAME = "UnifiedSource"
# clang needs this header of LibTorch before the others.
FIRST = ["-include", "ATen/core/ivalue.h"]
OF_TORCH = "-D_GLIBCXX_USE_CXX11_ABI=1"  # its targets have it
# The first: files that are looked at together are included.
LEFT_OUT = ["-bugprone-suspicious-include"]
ANALYZER = "-clang-analyzer-*"


def configure():
    """A build of its own: others precompile headers, for GCC, and compile files together in another way."""
    done = subprocess.run(["cmake", "--preset", "release", "-B", BUILD, "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON",
                           "-DBET_COMPILE_TOGETHER=OFF"], cwd=ROOT, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)


def commands():
    """(source, how it is compiled): what is not compiled here (CUDA, a missing library) cannot be looked at."""
    known = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if source.is_relative_to(ROOT / "src") and source.suffix == ".cpp":
            words = shlex.split(entry["command"])
            end = words.index("-o")
            known.setdefault(source, words[:end])
    return sorted(known.items())


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


def groups(sources):
    """Lists of sources of one folder with the same flags; instruction sets have files of their own."""
    alike = {}
    for source, words in sources:
        alike.setdefault((source.parent, tuple(words)), []).append(source)
    for (_, words), members in alike.items():
        divided = []  # (sources, their private names)
        for source in members:
            names = private_names(source)
            for group, known in divided:
                if len(group) < TOGETHER and not names & known:
                    group.append(source)
                    known |= names
                    break
            else:
                divided.append(([source], names))
        for group, _ in divided:
            yield list(words), group


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
    """What was found: of all together or, where they cannot be parsed together after all, of each."""
    found = tidy(unified(number, members), words, checks)
    if "clang-diagnostic-error" in found and len(members) > 1:
        found = "".join(tidy(source, words, checks) for source in members)
    return found


def main():
    checks = LEFT_OUT if sys.argv[1:] == ["all"] else LEFT_OUT + [ANALYZER]
    configure()
    work = sorted(groups(commands()), key=lambda group: -len(group[1]))
    clean = True
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        jobs = [pool.submit(look_at, number, *group, checks) for number, group in enumerate(work)]
        for job in concurrent.futures.as_completed(jobs):
            if job.result():
                clean = False
                print(job.result(), flush=True)
    if not clean:
        sys.exit(1)
    print(f"tidy: clean ({sum(len(members) for _, members in work)} files)")


if __name__ == "__main__":
    main()
