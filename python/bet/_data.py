"""Interactions as Python programs have them: tables, matrices, arrays, paths."""
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from bet import _train
from bet._errors import BadInput
from bet._options import Settings

ROLES = ("user", "item", "rating", "time")


class Ids(NamedTuple):
    """Ids by row, or their positions in `categories`."""
    values: NDArray[Any]
    categories: Optional[NDArray[Any]] = None


class Columns(NamedTuple):
    """Interactions in memory."""
    users: Ids
    items: Ids
    ratings: Optional[NDArray[Any]] = None
    times: Optional[NDArray[Any]] = None

    def data(self, name: str, settings: Settings) -> _train.Data:
        return _train.make_data(name, self.users.values, self.users.categories, self.items.values,
                                self.items.categories, self.ratings, self.times, settings)


def path_of(data: Any) -> Optional[str]:
    """The path of data that are one."""
    return os.fspath(data) if isinstance(data, (str, os.PathLike)) else None


def columns_of(data: Any, named: Mapping[str, Any]) -> Columns:
    """Interactions of a table (pandas, Polars, or a dict of arrays), of a sparse matrix users x
    items, of (users, items[, ratings[, times]]) or of an array of shape (n, 2). `named` are the
    columns of a table by their roles; those that are not given are found by their names."""
    if hasattr(data, "tocoo"):
        return _of_matrix(data)
    if hasattr(data, "columns") or isinstance(data, Mapping):
        return _of_table(data, named)
    if isinstance(data, np.ndarray) and data.ndim == 2 and data.shape[1] == 2:
        data = (data[:, 0], data[:, 1])
    if isinstance(data, (tuple, list)) and 2 <= len(data) <= 4:
        parts: List[Any] = [*data, None, None]
        return Columns(_ids(parts[0]), _ids(parts[1]),
                       None if parts[2] is None else np.asarray(parts[2], dtype=np.float64),
                       None if parts[3] is None else _times(parts[3]))
    raise BadInput(f"data of type {type(data).__name__}: expected a DataFrame, a sparse matrix, "
                   "(users, items), an array of shape (n, 2), or a path")


def _of_matrix(matrix: Any) -> Columns:
    entries = matrix.tocoo()
    there = entries.data != 0
    if there.all():
        return Columns(Ids(entries.row), Ids(entries.col), entries.data)
    return Columns(Ids(entries.row[there]), Ids(entries.col[there]), entries.data[there])


def _of_table(table: Any, named: Mapping[str, Any]) -> Columns:
    names = list(table.keys() if isinstance(table, Mapping) else table.columns)
    chosen = _chosen(names, named)
    for role in ("user", "item"):
        if role not in chosen:
            raise BadInput(f"no column of {role}s among {', '.join(map(repr, names))}: name it by "
                           f"{role}=")
    rating, time = chosen.get("rating"), chosen.get("time")
    return Columns(_ids(table[chosen["user"]]), _ids(table[chosen["item"]]),
                   None if rating is None else _numbers(table[rating]),
                   None if time is None else _times(table[time]))


def _chosen(names: List[Any], named: Mapping[str, Any]) -> Dict[str, Any]:
    """The column of each role."""
    texts = [str(name) for name in names]
    chosen: Dict[str, Any] = {}
    for role in ROLES:
        wanted = named.get(role)
        if wanted is None:
            place = _train.find_column(texts, role)
            if place >= 0:
                chosen[role] = names[place]
        elif wanted in names:
            chosen[role] = wanted
        else:
            raise BadInput(f"{role}={wanted!r}: there is no such column among "
                           + ", ".join(map(repr, names)))
    return chosen


def _ids(column: Any) -> Ids:
    for categorical in (getattr(column, "cat", None), column):  # a Series of pandas; its values
        if hasattr(categorical, "codes") and hasattr(categorical, "categories"):
            codes: Any = categorical
            return Ids(np.asarray(codes.codes), np.asarray(codes.categories))
    values = _values(column)
    if values.dtype.kind == "f" and len(values) and not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise BadInput(f"the id of row {row} is missing")
    return Ids(values)


def _values(column: Any) -> NDArray[Any]:
    """A column as NumPy has it: the same memory wherever that can be."""
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)


def _numbers(column: Any) -> NDArray[Any]:
    values = _values(column)
    try:
        return values.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise BadInput(f"ratings are not numbers: {error}") from None


def _times(column: Any) -> NDArray[Any]:
    """As seconds since 1970, where they are dates; as they are, where they are numbers."""
    values = _values(column)
    if values.dtype.kind == "M":
        whole = values.astype("datetime64[s]")
        seconds: NDArray[Any] = whole.astype(np.int64) + (values - whole) / np.timedelta64(1, "s")
        return seconds
    try:
        return values.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise BadInput(f"times are neither numbers nor dates: {error}") from None


def id_rows(ids: Ids) -> NDArray[Any]:
    """The ids themselves, row by row."""
    if ids.categories is None:
        return ids.values
    rows: NDArray[Any] = ids.categories[ids.values]
    return rows


def arrays_of(columns: Columns) -> Tuple[List[str], List[NDArray[Any]]]:
    """Names and values of the columns that are there."""
    found: List[Tuple[str, Optional[NDArray[Any]]]] = [
        ("user", id_rows(columns.users)), ("item", id_rows(columns.items)),
        ("rating", columns.ratings), ("time", columns.times)]
    there = [(name, values) for name, values in found if values is not None]
    return [name for name, _ in there], [values for _, values in there]
