#!/usr/bin/python3
"""The annotations of the package are sound, and the stubs of the modules say what these have: mypy and its stubtest, over
the package as built."""
import os
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(os.environ["BET_SOURCE"])
with tempfile.TemporaryDirectory() as cache:
    env = dict(os.environ, MYPYPATH=os.environ["PYTHONPATH"], MYPY_CACHE_DIR=cache)
    config = root / "pyproject.toml"
    commands = [
        ["-m", "mypy", "--config-file", config, "-p", "bet"],
        ["-m", "mypy.stubtest", "--mypy-config-file", root / "tests/python/mypy.ini",
         "--ignore-missing-stub", "--allowlist", root / "tests/python/stubtest-allowed.txt",
         "bet._runtime", *(["bet._train", "bet._fit"] if list(
             pathlib.Path(os.environ["PYTHONPATH"]).glob("bet/_train.*.so")) else [])]]
    for command in commands:
        subprocess.run([sys.executable, *command], env=env, cwd=root, check=True)
