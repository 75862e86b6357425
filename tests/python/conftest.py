"""What the tests share: the programs of the build (BET_BUILD) and a small model file."""
import os
import pathlib
import subprocess

import numpy as np
import pytest

import bet

BUILD = pathlib.Path(os.environ["BET_BUILD"])


@pytest.fixture(scope="session")
def toy_path(tmp_path_factory):
    """3 users, 6 items; ann has seen i2 (tests/consumer/make_model.cpp)."""
    path = tmp_path_factory.mktemp("toy") / "toy.bet"
    subprocess.run([BUILD / "bet_make_test_model", path], check=True)
    return path


@pytest.fixture
def toy(toy_path):
    return bet.Model.open(toy_path)


@pytest.fixture(scope="session")
def pairs():
    """Interactions of 300 users of two tastes with 80 items: two arrays of integers."""
    random = np.random.default_rng(7)
    users = np.repeat(np.arange(300), 12)
    items = random.integers(0, 40, users.size) + 40 * (users % 2) * (random.random(users.size) < 0.9)
    return users * 3 + 1000, items.astype(np.int64)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Pretrained models of other runs are not used."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(autouse=True)
def names_of_doctests(request, doctest_namespace):
    if request.node.__class__.__name__ == "DoctestItem":
        path = request.getfixturevalue("toy_path")
        doctest_namespace.update(bet=bet, np=np, path=path, model=bet.Model.open(path))
