"""The lines of Python in README and docs/python.md, and the examples, do what they say."""
import contextlib
import functools
import io
import os
import pathlib
import re
import runpy
import sys

import numpy as np
import pandas
import pytest

import bet

SOURCE = pathlib.Path(os.environ["BET_SOURCE"])


@pytest.fixture
def here(tmp_path, monkeypatch, pairs):
    """A folder with what the pages speak of: ratings.csv and movies.csv."""
    random = np.random.default_rng(5)
    users, items = pairs
    pandas.DataFrame({"userId": (users - 1000) // 3, "movieId": items + 1,
                      "rating": random.integers(1, 6, users.size),
                      "timestamp": np.arange(users.size)}).to_csv(tmp_path / "ratings.csv", index=False)
    pandas.DataFrame({"movieId": np.arange(1, 81), "title": [f"Film {i}" for i in range(1, 81)]}
                     ).to_csv(tmp_path / "movies.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```$", (SOURCE / page).read_text(), re.M | re.S)


@pytest.mark.parametrize("page, least", [("README.md", 1), ("docs/python.md", 4)])
def test_the_lines_of_the_pages(here, page, least):
    # The same lines with a training of seconds.
    quick = 'method="es", backbone="mf", max_steps=20, '
    found = blocks(page)
    assert len(found) >= least
    names = {}
    for block in found:
        text = block.replace("budget=", quick + "budget=", 1) if "bet.fit(" in block else block
        with contextlib.redirect_stderr(io.StringIO()):
            exec(compile(text, page, "exec"), names)


def test_from_dataframe(monkeypatch, tmp_path, capsys):
    # The same search with trainings of a few steps.
    monkeypatch.setattr(bet, "fit", functools.partial(bet.fit, max_steps=20))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["from_dataframe.py"])
    runpy.run_path(str(SOURCE / "examples/from_dataframe.py"), run_name="__main__")
    out = capsys.readouterr().out
    assert "title" in out and "bytes" in out
    assert (tmp_path / "model.bet").exists()
