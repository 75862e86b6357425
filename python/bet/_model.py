"""A model file: recommendations, scores and vectors, without a training library."""
import errno
import os
import shutil
from typing import Any, Dict, Iterable, Iterator, Optional, Tuple, Union, overload

import numpy as np
from numpy.typing import NDArray

from bet import _export
from bet._errors import BadInput
from bet._runtime import ItemSet, OpenedModel

Id = Union[str, int, "np.integer[Any]"]
Items = Union[Iterable[Id], ItemSet, None]
Path = Union[str, "os.PathLike[str]"]
#: Ids (int64, or objects that are str) and scores (float32), best first.
Answer = Tuple[NDArray[Any], NDArray[np.float32]]

_WINDOW = 8192  # users that are answered at once where answers are streamed


class Model:
    """Answers from a model file that `bet.fit` or the program `bet` has written.

    Any number of threads may use a model at once; long calls release the GIL. Ids are what they
    were in the data: `str`, or `int` where all of a side are integers. Given ids may be either.

    >>> model = bet.Model.open(path)
    >>> model
    <bet.Model 'toy.bet': 3 users, 6 items, 2 dimensions>
    >>> ids, scores = model.recommend("ann", k=2)
    >>> list(ids), scores.tolist()
    (['i4', 'i3'], [3.0, 2.0])
    """

    __slots__ = ("_opened", "_keep", "__weakref__")

    def __init__(self, path: Path, verify: bool = True) -> None:
        """As :meth:`open`."""
        name = os.fspath(path)
        if os.path.isdir(name):
            name = os.path.join(name, "model.bet")
        if not os.path.exists(name):
            raise FileNotFoundError(errno.ENOENT, "no such model file", name)
        self._opened = OpenedModel(os.path.abspath(name), verify)
        self._keep: Any = None  # a temporary folder that the file is in

    @classmethod
    def open(cls, path: Path, verify: bool = True) -> "Model":
        """Opens a model file, or that of a run folder. The file is mapped and must not be changed
        while it is open; it may be replaced by renaming another. `verify=False` leaves out the
        checksums, for large files that were verified before."""
        return cls(path, verify)

    # -- what it is ---------------------------------------------------------------------------

    @property
    def path(self) -> str:
        """Where the file is."""
        return self._opened.path

    @property
    def num_users(self) -> int:
        return self._opened.num_users

    @property
    def num_items(self) -> int:
        return self._opened.num_items

    @property
    def dimension(self) -> int:
        """Numbers of a vector; 0 with ncf, whose scores are not products of vectors."""
        return self._opened.dimension

    @property
    def info(self) -> Dict[str, Any]:
        """What the file is and what it says about its training.

        >>> info = model.info
        >>> info["users"], info["backbone"], info["score"], info["file_bytes"] == model.nbytes
        (3, 'mf', 'dot', True)
        """
        return self._opened.summary()

    @property
    def nbytes(self) -> int:
        """The bytes of the file."""
        return int(self._opened.summary()["file_bytes"])

    def __len__(self) -> int:
        """The number of users, each of whom has a list of recommendations.

        >>> len(model), "ann" in model
        (3, True)
        """
        return self.num_users

    def __contains__(self, user: Id) -> bool:
        return self.has_user(user)

    def __sizeof__(self) -> int:
        """Bytes in memory: those of the mapped file, and what opening added."""
        summary = self._opened.summary()
        return int(summary["file_bytes"]) + int(summary["opened_bytes"])

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return (f"<bet.Model {os.path.basename(self.path)!r}: {self.num_users} users, "
                f"{self.num_items} items, {self.dimension} dimensions>")

    def __reduce__(self) -> Any:
        """Pickled by its path: the file must be there where it is unpickled."""
        return Model, (self.path,)

    def save(self, path: Path) -> str:
        """Copies the model file and returns the path. The copy appears whole or not at all."""
        target = os.fspath(path)
        part = f"{target}.{os.getpid()}.part"
        try:
            shutil.copyfile(self.path, part)
            os.replace(part, target)
        finally:
            if os.path.exists(part):
                os.remove(part)
        return target

    @property
    def user_ids(self) -> NDArray[Any]:
        """The ids of all users, in the order of the rows of `user_vectors()`."""
        return self._opened.user_ids()

    @property
    def item_ids(self) -> NDArray[Any]:
        """The ids of all items, in the order of the rows of `item_vectors()`.

        >>> sorted(model.item_ids)
        ['i0', 'i1', 'i2', 'i3', 'i4', 'i5']
        """
        return self._opened.item_ids()

    def has_user(self, user: Id) -> bool:
        return self._opened.has_user(user)

    def has_item(self, item: Id) -> bool:
        return self._opened.has_item(item)

    def seen(self, user: Id) -> NDArray[Any]:
        """The items that a user had in training; empty where the file does not have them.

        >>> list(model.seen("ann"))
        ['i2']
        """
        return self._opened.seen(user)

    # -- recommendations ----------------------------------------------------------------------

    def item_set(self, items: Iterable[Id], often: bool = False) -> ItemSet:
        """Items looked up once, for `only` and `exclude` of many calls; unknown ones are left out.
        `often`: also prepares a file by graph for many requests for `only` these.

        >>> drama = model.item_set(["i0", "i4"])
        >>> list(model.recommend("ann", only=drama)[0])
        ['i4', 'i0']
        """
        return self._opened.item_set(items, often)

    def recommend(self, user: Union[Id, Iterable[Id]], k: int = 10, *, only: Items = None,
                  exclude: Items = None, min_score: Optional[float] = None,
                  include_seen: bool = False, missing: str = "raise", threads: int = 0) -> Answer:
        """The best items of a user, best first: two arrays, ids and scores.

        For a list of users: two arrays of shape (users, k), on all cores (or `threads`); where a
        user has fewer items the rest is -1 (or None) and NaN. Items that a user had in training are
        left out unless `include_seen`. `only` and `exclude` are items or an `item_set`. An unknown
        user raises `bet.NotFound`, or gets nothing (`missing="empty"`) or the items of most users
        (`missing="popular"`, with the number of these users as score).

        >>> ids, scores = model.recommend(["ann", "eve"], k=2, missing="empty")
        >>> ids.tolist(), scores.tolist()
        ([['i4', 'i3'], [None, None]], [[3.0, 2.0], [nan, nan]])
        >>> model.recommend("eve")
        Traceback (most recent call last):
        bet._errors.NotFound: unknown user 'eve'
        """
        if isinstance(user, (str, int, np.integer)):
            return self._opened.recommend(user, k, only, exclude, min_score, include_seen, missing)
        return self._opened.recommend_many(user, k, only, exclude, min_score, include_seen, missing,
                                           threads)

    def recommend_for(self, items: Iterable[Id], k: int = 10, *, only: Items = None,
                      exclude: Items = None, min_score: Optional[float] = None,
                      include_seen: bool = False, ignore_unknown: bool = False) -> Answer:
        """For somebody who is not in the file and has these items.

        >>> list(model.recommend_for(["i2"], k=2)[0])
        ['i4', 'i3']
        """
        return self._opened.recommend_for(items, k, only, exclude, min_score, include_seen,
                                          ignore_unknown)

    def similar(self, item: Id, k: int = 10, *, only: Items = None, exclude: Items = None,
                min_score: Optional[float] = None) -> Answer:
        """The items whose vectors have the largest cosine to that of this item, without itself.

        >>> list(model.similar("i2", k=1)[0])
        ['i3']
        """
        return self._opened.similar(item, k, only, exclude, min_score)

    similar_items = similar  # its name in implicit

    def popular(self, k: int = 10, *, only: Items = None, exclude: Items = None) -> Answer:
        """The items that most users have, and how many these are."""
        return self._opened.popular(k, only, exclude)

    def scores(self, user: Id, items: Iterable[Id]) -> NDArray[np.float32]:
        """The scores of these items for a user, in their order; NaN for unknown items.

        >>> model.scores("ann", ["i2", "nothing"]).tolist()
        [4.0, nan]
        """
        return self._opened.scores(user, items)

    @overload
    def recommend_all(self, k: int = ..., path: None = ..., *, only: Optional[Iterable[Id]] = ...,
                      exclude: Optional[Iterable[Id]] = ..., min_score: Optional[float] = ...,
                      include_seen: bool = ..., threads: int = ...) -> Answer: ...

    @overload
    def recommend_all(self, k: int, path: Path, *, only: Optional[Iterable[Id]] = ...,
                      exclude: Optional[Iterable[Id]] = ..., min_score: Optional[float] = ...,
                      include_seen: bool = ..., threads: int = ...) -> int: ...

    def recommend_all(self, k: int = 10, path: Optional[Path] = None, *,
                      only: Optional[Iterable[Id]] = None, exclude: Optional[Iterable[Id]] = None,
                      min_score: Optional[float] = None, include_seen: bool = False,
                      threads: int = 0) -> Union[int, Answer]:
        """The lists of all users, on all cores.

        Without `path`: two arrays of shape (users, k), in the order of `user_ids`. With `path`:
        writes user, rank, item and score of every list into a file (.csv, .jsonl, each also with
        .zst behind it, or .parquet, which needs pyarrow) with memory for some thousand users at a
        time, and returns the number of users. `bet-serve recommend MODEL --all` writes the same.

        >>> sorted(zip(model.user_ids, model.recommend_all(1)[0][:, 0]))
        [('ann', 'i4'), ('bob', 'i1'), ('zoë', 'i5')]
        """
        if path is None:
            return self._opened.recommend_rows(0, self.num_users, k, only, exclude, min_score,
                                               include_seen, threads)
        name = os.fspath(path)
        if not name.endswith(".parquet"):
            return self._opened.write_all(name, k, only, exclude, min_score, include_seen, threads)
        filters = (None if only is None else self.item_set(only),
                   None if exclude is None else self.item_set(exclude), min_score, include_seen)

        def windows() -> Iterator[Tuple[NDArray[Any], Answer]]:
            users = self.user_ids
            # All of about the same size: many users of a call are answered in another way than few.
            number = max(1, -(-len(users) // _WINDOW))
            ends = [len(users) * window // number for window in range(number + 1)]
            for first, end in zip(ends, ends[1:]):
                yield users[first:end], self._opened.recommend_rows(
                    first, end - first, k, *filters, threads)

        _export.write_parquet(name, windows())
        return self.num_users

    # -- vectors ------------------------------------------------------------------------------

    def user_vector(self, user: Id) -> NDArray[np.float32]:
        return self._opened.user_vector(user)

    def item_vector(self, item: Id) -> NDArray[np.float32]:
        return self._opened.item_vector(item)

    def user_vectors(self) -> NDArray[np.float32]:
        """The vectors of all users, (users, dimension), by row as `user_ids`. Their products with
        those of items are the scores (`info["score"]` "dot"), or their cosines are ("cosine"). A
        read-only view of the file where it has them as fp32 of one size, else a new array."""
        return self._opened.user_vectors()

    def item_vectors(self) -> NDArray[np.float32]:
        """The vectors of all items, as `user_vectors()`: ready for faiss or hnswlib.

        >>> model.item_vectors().shape
        (6, 2)
        """
        return self._opened.item_vectors()

    @property
    def user_factors(self) -> NDArray[np.float32]:
        """`user_vectors()`, by its name in implicit."""
        return self.user_vectors()

    @property
    def item_factors(self) -> NDArray[np.float32]:
        """`item_vectors()`, by its name in implicit."""
        return self.item_vectors()

    def to_npz(self, path: Path) -> None:
        """Ids and vectors as `user_ids`, `item_ids`, `user_vectors`, `item_vectors` of a file for
        `numpy.load`. Strings are stored as NumPy's own, so that nothing is unpickled."""
        _export.write_npz(os.fspath(path), self._arrays())

    def to_safetensors(self, path: Path) -> None:
        """The same as safetensors. Integer ids are tensors; strings, which the format does not
        have, are JSON lists of its metadata."""
        info = self.info
        _export.write_safetensors(os.fspath(path), self._arrays(),
                                  {"score": info["score"], "backbone": info["backbone"]})

    def _arrays(self) -> Dict[str, NDArray[Any]]:
        if self.dimension == 0:
            raise BadInput(f"{self.path}: {self.info['backbone']} has no vectors: its scores are "
                           "not products")
        return {"user_ids": self.user_ids, "item_ids": self.item_ids,
                "user_vectors": self.user_vectors(), "item_vectors": self.item_vectors()}
