"""The options of a run, from the one table that the command line has, too."""
import os
from typing import Any, Dict, List, Mapping, Tuple

from bet import _train
from bet._errors import BadInput, UnknownOption

#: Text by name, as the table has the names.
Settings = List[Tuple[str, str]]

_TYPES = {"str": str, "int": int, "float": float, "bool": bool}


def keyword(name: str) -> str:
    """The name of an option in Python: `max_steps` for --max-steps, `user` for --user-col."""
    return (name[:-len("-col")] if name.endswith("-col") else name).replace("-", "_")


def table() -> Dict[str, Dict[str, Any]]:
    """The rows by keyword, without the data, which come first."""
    return {keyword(row["name"]): row for row in _train.option_table()}


def settings_of(given: Mapping[str, Any], others: Tuple[str, ...]) -> Settings:
    """The given keywords as texts; None is not given. `others`: keywords that are no options."""
    rows = table()
    settings = []
    for name, value in given.items():
        if name not in rows:
            raise UnknownOption(_unknown(name, [*rows, *others]))
        if value is not None:
            settings.append((rows[name]["name"], _text(name, value, rows[name])))
    return settings


def _unknown(name: str, known: List[str]) -> str:
    nearest = _train.nearest_word(name.replace("-", "_"), known)
    return f"unknown option {name!r}" + (f"; did you mean {nearest!r}?" if nearest else "")


def _text(name: str, value: Any, row: Dict[str, Any]) -> str:
    if row["type"] == "bool":
        if not isinstance(value, bool):
            raise BadInput(f"{name}={value!r}: it is True or False")
        return "true" if value else "false"
    if row["type"] in ("int", "float") and not isinstance(value, bool):
        try:
            # An int from 100.0 would be a surprise; a float from 1 is not.
            return str(value.__index__()) if row["type"] == "int" else repr(float(value))
        except (AttributeError, TypeError, ValueError):
            raise BadInput(f"{name}={value!r}: it is {_described(row)}") from None
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # a column by its number, a pool of negatives
    raise BadInput(f"{name}={value!r}: it is {_described(row)}")


def _described(row: Dict[str, Any]) -> str:
    if row["choices"]:
        return "one of " + ", ".join(row["choices"])
    kind = {"str": "a text", "int": "an integer", "float": "a number", "bool": "True or False"}
    return kind[row["type"]]


def type_text(row: Dict[str, Any]) -> str:
    """The type of an option as annotations have it."""
    if row["choices"]:
        return "Optional[Literal[" + ", ".join(repr(one) for one in row["choices"]) + "]]"
    more = ", int" if row["name"].endswith("-col") or row["name"] == "negatives" else ""
    return f"Optional[Union[{row['type']}{more}]]" if more else f"Optional[{row['type']}]"


def default_of(row: Dict[str, Any]) -> Any:
    """The value without the option; None where the method, backbone or effort decides it."""
    text = row["default"]
    if row["type"] == "bool":
        return text == "true"
    return None if text is None else _TYPES[row["type"]](text)


def described(skip: Tuple[str, ...] = ()) -> str:
    """The options by their groups, for a docstring."""
    groups: Dict[str, List[str]] = {}
    for name, row in table().items():
        if name in skip:
            continue
        default = default_of(row)
        note = "" if default is None or default is False else f" (default {default!r})"
        groups.setdefault(row["group"], []).append(
            f"    {name} : {row['type']}\n        {row['help']}{note}")
    return "\n".join(f"\n{group}\n" + "\n".join(lines) for group, lines in groups.items())
