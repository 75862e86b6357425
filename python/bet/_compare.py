"""bet.compare: many runs on one data set."""
import csv
import os
import tempfile
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

from bet import _fit  # says what is missing where it cannot train
from bet import _options, _train
from bet._data import ROLES, arrays_of, columns_of, path_of
from bet._errors import BadInput
from bet._model import Path
from bet._progress import Progress, listener_of

_OWN = ("name", "out", "seeds", "within", "progress", "budget", "method", "backbone")
Words = Union[str, Iterable[str], None]


class Comparison:
    """Many finished runs: `results` has a row for each, `cells` one for each backbone, method and
    budget, with means and deviations over seeds."""

    def __init__(self, folder: str, cells: List[Dict[str, Any]], failed: List[Tuple[str, str]],
                 within: List[str], temporary: Any = None) -> None:
        self.folder = folder
        self._cells = cells
        #: The runs whose budget cannot be met: their folders and why.
        self.failed = failed
        #: With `within`, a sentence for each backbone: the smallest file that is good enough.
        self.within = within
        self._temporary = temporary

    @property
    def cells(self) -> Any:
        """A DataFrame, or a list of dicts without pandas."""
        return _table(self._cells)

    @property
    def results(self) -> Any:
        """results.csv: a DataFrame, or a list of dicts of texts without pandas."""
        return self._file("results.csv")

    @property
    def pairs(self) -> Any:
        """pairs.csv: tests of the first method against each other one, likewise."""
        return self._file("pairs.csv")

    def _file(self, name: str) -> Any:
        path = os.path.join(self.folder, name)
        try:
            import pandas
        except ImportError:
            with open(path, encoding="utf-8", newline="") as file:
                return list(csv.DictReader(file))
        return pandas.read_csv(path)

    def _repr_html_(self) -> str:
        cells = self.cells
        return str(cells._repr_html_() if hasattr(cells, "_repr_html_") else cells)


def _table(rows: List[Dict[str, Any]]) -> Any:
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def _words(words: Words, usual: List[str]) -> List[str]:
    if words is None:
        return usual
    return words.split(",") if isinstance(words, str) else list(words)


def _write_csv(data: Any, options: Dict[str, Any], path: str) -> None:
    columns = columns_of(data, {role: options.pop(role, None) for role in ROLES})
    names, arrays = arrays_of(columns)
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for array in arrays[:2]:
            if array.dtype.kind in "UO" and any(str(one) != str(one).strip() or "\n" in str(one)
                                                for one in array):
                raise BadInput("ids with blanks around them, or of more than one line, cannot be "
                               "compared: bet.fit takes them")
        writer.writerows(zip(*(array.tolist() for array in arrays)))


def compare(data: Any, *, budget: Words = None, method: Words = None, backbone: Words = None,
            seeds: int = 1, within: Optional[str] = None, name: str = "data",
            out: Optional[Path] = None, progress: Progress = True, **options: Any) -> Comparison:
    """Fits every budget with every method, backbone and seed, as `bet compare` does.

    `budget`, `method` and `backbone` are lists (or texts with commas); `seeds` is how many, from
    `seed` on. `within` ("1%") names the smallest file whose recall@20 on validation is at most
    that much below that of full size, which is then one of the methods. `data`, `name`, `out` and `progress` are as of `bet.fit`, and so are all other
    options. With `out` the same call continues after whatever ended it, and Ctrl-C raises
    `bet.Interrupted`. Data in memory are written to a file first.

    >>> rng = np.random.default_rng(1)
    >>> data = rng.integers(0, 50, 2000), rng.integers(0, 40, 2000)
    >>> comparison = bet.compare(data, budget=["10%", "20%"], method=["es", "mr"], backbone="mf",
    ...                          max_steps=10, progress=False)
    >>> comparison.cells[["method", "budget", "runs"]].values.tolist()
    [['es', '10%', 1], ['es', '20%', 1], ['mr', '10%', 1], ['mr', '20%', 1]]
    """
    temporary = tempfile.TemporaryDirectory(prefix="bet-") if out is None else None
    folder = os.path.join(temporary.name, "runs") if temporary else os.fspath(out or "")
    path = path_of(data)
    with tempfile.TemporaryDirectory(prefix="bet-data-") as written:
        if path is None:
            path = os.path.join(written, f"{name}.csv")
            _write_csv(data, options, path)
        settings = [("data", path), *_options.settings_of(options, _OWN)]
        usual = _options.table()
        folder, cells, failed, smallest = _train.compare(
            settings, _words(budget, []), _words(method, [usual["method"]["default"]]),
            _words(backbone, [usual["backbone"]["default"]]), seeds, within, folder,
            listener_of(progress))
    return Comparison(folder, cells, failed, smallest, temporary)


assert _fit  # imported for its message
