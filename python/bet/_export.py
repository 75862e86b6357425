"""Vectors and lists in the formats of other programs."""
import json
import os
from typing import Any, Dict, Iterable, Iterator, Tuple

import numpy as np
from numpy.typing import NDArray

from bet._errors import BadInput

_TENSOR_TYPES = {"float32": "F32", "int64": "I64"}


class _WholeFile:
    """A file that appears whole or not at all."""

    def __init__(self, path: str) -> None:
        self.path = path
        # With the same ending: np.savez adds its own to others.
        folder, name = os.path.split(path)
        self.part = os.path.join(folder, f".{os.getpid()}.part.{name}")

    def __enter__(self) -> str:
        return self.part

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            os.replace(self.part, self.path)
        elif os.path.exists(self.part):
            os.remove(self.part)


def write_npz(path: str, arrays: Dict[str, NDArray[Any]]) -> None:
    plain = {name: array.astype(str) if array.dtype == object else array
             for name, array in arrays.items()}
    with _WholeFile(path) as part, open(part, "wb") as file:
        np.savez(file, **plain)


def write_safetensors(path: str, arrays: Dict[str, NDArray[Any]], about: Dict[str, str]) -> None:
    """https://github.com/huggingface/safetensors: the length of the header (u64), the header as
    JSON, padded to 8 bytes with blanks, and the bytes of the tensors one after the other."""
    header: Dict[str, Any] = {"__metadata__": dict(about)}
    tensors = []
    offset = 0
    for name, array in arrays.items():
        kind = _TENSOR_TYPES.get(array.dtype.name)
        if kind is None:
            header["__metadata__"][name] = json.dumps(array.tolist())
            continue
        values = np.ascontiguousarray(array)
        header[name] = {"dtype": kind, "shape": list(values.shape),
                        "data_offsets": [offset, offset + values.nbytes]}
        offset += values.nbytes
        tensors.append(values)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with _WholeFile(path) as part, open(part, "wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for values in tensors:
            file.write(values.data if values.size else b"")


def write_parquet(path: str, windows: Iterable[Tuple[NDArray[Any], Tuple[NDArray[Any],
                                                                         NDArray[np.float32]]]]) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise BadInput(f"{path}: Parquet needs pyarrow; .csv, .jsonl and .csv.zst do not") from None

    def tables() -> Iterator[Any]:
        for users, (ids, scores) in windows:
            there = ~np.isnan(scores)
            ranks = np.broadcast_to(np.arange(1, ids.shape[1] + 1, dtype=np.int32), ids.shape)
            yield pyarrow.table({"user": np.repeat(users, there.sum(axis=1)), "rank": ranks[there],
                                 "item": ids[there], "score": scores[there]})

    with _WholeFile(path) as part:
        writer = None
        try:
            for table in tables():
                writer = writer or pyarrow.parquet.ParquetWriter(part, table.schema)
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()
