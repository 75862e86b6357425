"""Builds the Python package with CMake.

    pip install .                        needs cmake, ninja, pybind11 and LibTorch (docs/install.md)
    BET_RUNTIME_ONLY=1 pip install .     without bet.fit and bet.compare: needs no LibTorch
    BET_BUILD=build/release pip install .    takes the modules from a build that is there

CMAKE_ARGS are given to cmake, for instance -DCMAKE_PREFIX_PATH=... for LibTorch elsewhere.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
RUNTIME_ONLY = os.environ.get("BET_RUNTIME_ONLY", "") not in ("", "0")


def version() -> str:
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(bet VERSION ([0-9.]+)", text).group(1)


def pybind11_arguments():
    try:
        import pybind11  # of pip's, where the system has none
    except ImportError:
        return []
    return [f"-DBET_PYBIND11_DIR={pybind11.get_include()}"]


class CMakeBuild(build_ext):
    """All modules are one build: the first one asked for makes them all."""

    def run(self) -> None:
        folder = os.environ.get("BET_BUILD") or str(ROOT / "build" / (
            "python-runtime" if RUNTIME_ONLY else "python"))
        self.compile_in(pathlib.Path(folder).resolve())

    def compile_in(self, folder: pathlib.Path) -> None:
        if not os.environ.get("BET_BUILD"):
            subprocess.run(
                ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                 f"-DPython_EXECUTABLE={sys.executable}", "-DBET_BUILD_TESTS=OFF",
                 f"-DBET_WITH_TORCH={'OFF' if RUNTIME_ONLY else 'ON'}", *pybind11_arguments(),
                 *shlex.split(os.environ.get("CMAKE_ARGS", ""))], check=True)
        subprocess.run(["cmake", "--build", folder, "--target", "bet_python"], check=True)
        built = folder / "python" / "bet"
        target = ROOT / "python" / "bet" if self.inplace else pathlib.Path(self.build_lib) / "bet"
        target.mkdir(parents=True, exist_ok=True)
        for stale in (*target.glob("_*.so"), target / "_fit.pyi"):  # of a build with other modules
            stale.unlink(missing_ok=True)
        for extension in self.extensions:
            name = extension.name.split(".")[-1]
            for module in built.glob(f"{name}.*.so"):
                shutil.copy2(module, target)
        if not RUNTIME_ONLY:
            shutil.copy2(built / "_fit.pyi", target)

    def get_outputs(self):
        return [str(path) for path in (pathlib.Path(self.build_lib) / "bet").glob("*.so")]


modules = ["bet._runtime"] if RUNTIME_ONLY else ["bet._runtime", "bet._train"]
setup(
    version=version(),
    package_dir={"": "python"},
    packages=["bet"],
    package_data={"bet": ["*.pyi", "py.typed"]},
    ext_modules=[Extension(name, sources=[]) for name in modules],
    cmdclass={"build_ext": CMakeBuild},
    zip_safe=False,
)
