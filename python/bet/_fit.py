"""bet.fit: from interactions to a model file inside a memory budget."""
import html
import inspect
import json
import os
import shutil
import tempfile
from typing import Any, Dict, List, Mapping, Optional

try:
    from bet import _train
except ImportError as error:
    raise ImportError("bet.fit and bet.compare need the module bet._train, which this installation "
                      "does not have (Debian: python3-bet-train; pip: build with LibTorch): "
                      f"{error}") from error
from bet import _options
from bet._data import ROLES, columns_of, path_of
from bet._errors import BadInput
from bet._model import Model, Path
from bet._progress import Progress, listener_of

_OWN = ("name", "out", "overwrite", "resume", "continue_search", "progress")


class FitResult:
    """A finished run: `model`, `report`, `trials`, and its folder."""

    def __init__(self, folder: str, report: Dict[str, Any], temporary: Any = None) -> None:
        self.folder = folder
        #: What report.json says (docs/report.md).
        self.report = report
        self._temporary = temporary  # the folder, removed with the last of result and model
        self._model: Optional[Model] = None

    @property
    def model(self) -> Model:
        """The model, opened when first asked for. `model.save(path)` copies the file."""
        if self._model is None:
            self._model = Model.open(os.path.join(self.folder, "model.bet"))
            self._model._keep = self._temporary
        return self._model

    @property
    def trials(self) -> Any:
        """The plans that the search trained: a DataFrame, or a list of dicts without pandas."""
        trials = self.report.get("trials", [])
        try:
            import pandas
        except ImportError:
            return trials
        return pandas.json_normalize(trials)

    def save(self, folder: Path) -> str:
        """Copies the run folder, which is a temporary one unless `out` was given."""
        return str(shutil.copytree(self.folder, os.fspath(folder)))

    def __repr__(self) -> str:
        report = self.report
        used, test = report["used"], report.get("test") or {}
        quality = f", test recall@20 {test['recall@20']:.4f}" if "recall@20" in test else ""
        stopped = ", stopped early" if report.get("interrupted") else ""
        return (f"<bet.FitResult {report['dataset']['name']} {report['backbone']} "
                f"{report['method']}: {used['file_bytes']} bytes{quality}{stopped}>")

    def _repr_html_(self) -> str:
        """The page of the run, in a frame of its own."""
        with open(os.path.join(self.folder, "report.html"), encoding="utf-8") as file:
            page = file.read()
        return (f'<iframe srcdoc="{html.escape(page)}" width="100%" height="700" '
                'style="border:0"></iframe>')


def _mode(overwrite: bool, resume: bool, continue_search: bool) -> str:
    if overwrite and (resume or continue_search):
        raise BadInput("overwrite replaces a run, and resume continues it: give one of them")
    if continue_search:
        return "continue-search"
    return "overwrite" if overwrite else "resume" if resume else "new"


def _no_file_options(options: Mapping[str, Any]) -> None:
    for name in ("format", "no_header"):
        if options.get(name):
            raise BadInput(f"{name}={options[name]!r} is for files, and the data are in memory")


def fit(data: Any, *, name: Optional[str] = None, out: Optional[Path] = None,
        overwrite: bool = False, resume: bool = False, continue_search: bool = False,
        progress: Progress = True, **options: Any) -> FitResult:
    # The docstring is made below, with the options of the table.
    settings = _options.settings_of(options, _OWN)
    mode = _mode(overwrite, resume, continue_search)
    if out is None and mode != "new":
        raise BadInput(f"{mode} needs the folder of the run: out=")
    path = path_of(data)
    prepared = None
    if path is None:
        _no_file_options(options)
        columns = columns_of(data, {role: options.get(role) for role in ROLES})
        prepared = columns.data(name or "data", settings)
    elif name is not None:
        raise BadInput(f"name={name!r} is for data in memory; that of a file is the file's own")
    else:
        settings.insert(0, ("data", path))
    temporary = None
    folder = "" if out is None else os.fspath(out)
    if out is None:
        temporary = tempfile.TemporaryDirectory(prefix="bet-")
        folder = os.path.join(temporary.name, "run")
    folder, report = _train.fit(settings, folder, mode, prepared, listener_of(progress))
    return FitResult(folder, json.loads(report), temporary)


fit.__doc__ = f"""Trains a recommender inside a memory budget and returns a `FitResult`.

Parameters
    data
        A pandas or Polars DataFrame or a dict of arrays, whose columns are found by their names or
        named by `user`, `item`, `rating` and `time`; a SciPy sparse matrix users x items, in which
        what is not zero is an interaction; (users, items[, ratings[, times]]) or an array of shape
        (n, 2); or the path of a file or folder, as the command line takes it. Ids are strings or
        integers, and come back as what they were.
    name : str
        Of data in memory, for the report and the model file (default 'data').
    out : path
        The run folder: model file, report, log, and what resuming needs. Without it a temporary
        one, which is removed with the result and its model.
    overwrite, resume, continue_search : bool
        Replace the run in `out`; continue it after it was interrupted; continue its search.
    progress : bool or function
        Bars of tqdm's where it is installed, else lines on stderr; False: nothing. A function is
        called with a dict of phase, done, total, detail and line, or of a message.

Ctrl-C ends the training with the best so far (`report["interrupted"]`); a second one leaves it,
and so does the first while there is nothing to finish with: `bet.Interrupted`, and `resume=True`
with the same `out` continues. The same data, options and seed give the same model file as the
program `bet`, to the byte.

>>> rng = np.random.default_rng(1)
>>> users, items = rng.integers(0, 50, 2000), rng.integers(0, 40, 2000)
>>> result = bet.fit((users, items), method="es", budget="10%", backbone="mf", max_steps=20,
...                  progress=False)
>>> result.report["dataset"]["users"], result.report["used"]["params"] <= 90 * 128 // 10
(50, True)
>>> result.model.recommend(7, k=3)[0].dtype
dtype('int64')
>>> bet.fit((users, items), buget="10%")
Traceback (most recent call last):
bet._errors.UnknownOption: unknown option 'buget'; did you mean 'budget'?

Options, as those of `bet fit`
{_options.described()}
"""


def _signature() -> inspect.Signature:
    own = inspect.signature(fit)
    parameters: List[inspect.Parameter] = [
        one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
    parameters += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY,
                                     default=_options.default_of(row))
                   for name, row in _options.table().items()]
    return own.replace(parameters=parameters)


fit.__signature__ = _signature()  # type: ignore[attr-defined]
