"""Recommenders that fit into a given amount of memory.

    import bet
    result = bet.fit(ratings, budget="256KiB")          # a DataFrame, arrays, a matrix or a path
    result.model.save("model.bet")
    model = bet.Model.open("model.bet")                 # needs no training library
    ids, scores = model.recommend(17, k=10)

`bet.Model` answers from a model file. `bet.fit` and `bet.compare` train; the library for that
(LibTorch) is loaded when one of them is first used.
"""
from typing import TYPE_CHECKING, Any, List

from bet._errors import (BadInput, BudgetError, Error, InternalError, Interrupted, NotFound,
                         UnknownOption)
from bet._model import Model
from bet._runtime import ItemSet, __version__

if TYPE_CHECKING:
    from bet._compare import Comparison, compare
    from bet._fit import FitResult, fit

__all__ = ["BadInput", "BudgetError", "Comparison", "Error", "FitResult", "InternalError",
           "Interrupted", "ItemSet", "Model", "NotFound", "UnknownOption", "__version__", "compare",
           "fit"]

_TRAINING = {"fit": "bet._fit", "FitResult": "bet._fit", "compare": "bet._compare",
             "Comparison": "bet._compare"}


def __getattr__(name: str) -> Any:
    if name not in _TRAINING:
        raise AttributeError(f"module 'bet' has no attribute {name!r}")
    import importlib
    value = getattr(importlib.import_module(_TRAINING[name]), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted(set(globals()) | set(__all__))
