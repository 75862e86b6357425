#!/usr/bin/python3
"""make_fit_stub.py FOLDER: writes _fit.pyi into the built package in FOLDER: bet.fit with all options of the table, for
editors and type checkers."""
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(folder.parent))

from bet import _options  # noqa: E402  (from the folder)

HEAD = '''"""Made by python/make_fit_stub.py from the table of options."""
from typing import Any, Dict, Literal, Optional, Union

from bet._model import Model, Path
from bet._progress import Progress

class FitResult:
    folder: str
    report: Dict[str, Any]
    def __init__(self, folder: str, report: Dict[str, Any], temporary: Any = ...) -> None: ...
    @property
    def model(self) -> Model: ...
    @property
    def trials(self) -> Any: ...
    def save(self, folder: Path) -> str: ...
    def _repr_html_(self) -> str: ...

def fit(
    data: Any,
    *,
    name: Optional[str] = ...,
    out: Optional[Path] = ...,
    overwrite: bool = ...,
    resume: bool = ...,
    continue_search: bool = ...,
    progress: Progress = ...,
'''
lines = [f"    {name}: {_options.type_text(row)} = ...,\n" for name, row in _options.table().items()]
(folder / "_fit.pyi").write_text(HEAD + "".join(lines) + ") -> FitResult: ...\n")
