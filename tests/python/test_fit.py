"""bet.fit and bet.compare."""
import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pandas
import pytest
import scipy.sparse

import bet
from conftest import BUILD

QUICK = {"method": "es", "budget": "10%", "backbone": "mf", "max_steps": 20, "progress": False}
WORDS = ["--method", "es", "--budget", "10%", "--backbone", "mf", "--max-steps", "20", "--quiet"]


def by_program(data, folder, *words):
    subprocess.run([BUILD / "bet", "fit", data, "--out", folder, *WORDS, *words], check=True,
                   stdout=subprocess.DEVNULL)
    return (folder / "model.bet").read_bytes()


def bytes_of(result):
    return pathlib.Path(result.model.path).read_bytes()


@pytest.fixture(scope="module")
def ratings(tmp_path_factory):
    """A file of users, items, ratings and times with some rows twice, and the same as a table."""
    random = np.random.default_rng(3)
    users = np.repeat(np.arange(200), 15) * 7 + 5
    table = pandas.DataFrame({
        "user_id": users, "movie_id": random.integers(0, 90, users.size),
        "rating": random.integers(1, 6, users.size),
        "timestamp": random.integers(10 ** 9, 10 ** 9 + 10 ** 6, users.size)})
    path = tmp_path_factory.mktemp("data") / "ratings.csv"
    table.to_csv(path, index=False)
    return path, table


@pytest.fixture(scope="module")
def program_file(ratings, tmp_path_factory):
    return by_program(ratings[0], tmp_path_factory.mktemp("runs") / "run")


def test_a_path_gives_the_file_of_the_program(ratings, program_file):
    result = bet.fit(ratings[0], **QUICK)
    assert bytes_of(result) == program_file
    assert result.report["dataset"]["name"] == "ratings"


def test_a_table_gives_the_file_of_the_program(ratings, program_file):
    table = ratings[1]
    for data in (table, table.sample(frac=1, random_state=1), table.astype({"user_id": "int32"}),
                 table.astype({"user_id": "category"}), table.astype({"movie_id": "uint8"}),
                 {name: table[name].to_numpy() for name in table},
                 (table["user_id"].to_numpy(), table["movie_id"].tolist()),
                 table[["user_id", "movie_id"]].to_numpy()):
        assert bytes_of(bet.fit(data, name="ratings", **QUICK)) == program_file


def test_a_matrix_gives_the_file_of_the_program(ratings, program_file):
    table = ratings[1]
    ones = np.ones(len(table))
    matrix = scipy.sparse.coo_matrix((ones, (table["user_id"], table["movie_id"])))
    for form in (matrix, matrix.tocsr(), matrix.tocsc()):
        assert bytes_of(bet.fit(form, name="ratings", **QUICK)) == program_file


def test_zeros_of_a_matrix_are_no_interactions():
    matrix = scipy.sparse.coo_matrix((np.tile([1.0, 0.0], 400), (np.arange(800) % 40,
                                                                 np.arange(800) // 40)))
    stored = matrix.copy()
    result = bet.fit(stored, **QUICK)
    assert result.report["dataset"]["interactions"] == (matrix.toarray() != 0).sum()


@pytest.mark.parametrize("words, options", [
    (["--min-rating", "3"], {"min_rating": 3}),
    (["--split", "time"], {"split": "time"}),
    (["--min-user-inter", "12", "--min-item-inter", "5"],
     {"min_user_inter": 12, "min_item_inter": 5}),
    (["--user-col", "user_id", "--seed", "3", "--precision", "int8"],
     {"user": "user_id", "seed": 3, "precision": "int8"}),
])
def test_options_mean_what_they_mean_to_the_program(ratings, tmp_path, words, options):
    wanted = by_program(ratings[0], tmp_path / "run", *words)
    assert bytes_of(bet.fit(ratings[1], name="ratings", **QUICK, **options)) == wanted
    assert bytes_of(bet.fit(ratings[0], **QUICK, **options)) == wanted


def test_dates_are_times(ratings, tmp_path):
    table = ratings[1].assign(timestamp=pandas.to_datetime(ratings[1]["timestamp"], unit="s"))
    wanted = by_program(ratings[0], tmp_path / "run", "--split", "time")
    assert bytes_of(bet.fit(table, name="ratings", split="time", **QUICK)) == wanted


@pytest.mark.parametrize("make, kind", [
    (lambda ids: ids, np.int64),
    (lambda ids: ids - 2000, np.int64),
    (lambda ids: ids.astype(str), object),
    (lambda ids: np.array([f"ü {i}" for i in ids]), object),
    (lambda ids: pandas.Series([f"u{i}" for i in ids], dtype="string"), object),
    (lambda ids: pandas.Series([f"u{i}" for i in ids], dtype="category"), object),
    (lambda ids: np.array([int(i) for i in ids], dtype=object), np.int64),
])
def test_ids_come_back_as_they_were_given(pairs, make, kind):
    users, items = pairs
    given = make(users)
    result = bet.fit((given, items), **QUICK)
    ids = result.model.user_ids
    assert ids.dtype == kind and result.model.item_ids.dtype == np.int64
    assert set(ids.tolist()) == set(np.asarray(given).tolist())
    first = np.asarray(given)[0]
    assert result.model.recommend(first, 3)[0].tolist() == \
        result.model.recommend([first], 3)[0][0].tolist()
    again = bet.fit((items, given), **QUICK).model  # and as items
    assert again.item_ids.dtype == kind
    assert again.recommend_all(2)[0].dtype == kind


@pytest.mark.parametrize("users, message", [
    ([1, "a"], "row 1 is .*'a'.*all strings or all integers"),
    ([1.0, 2.0], "integers or strings, not float64"),
    ([1.0, float("nan")], "row 1 is missing"),
    ([True, False], "integers or strings, not bool"),
    (["a", None], "row 1"),
    (["a", ""], "row 1: empty user id"),
    (pandas.Series(["a", None], dtype="category"), "row 1 is missing"),
    (np.array([1, 2 ** 63], dtype=np.uint64), "row 1.*64 bits"),
    ([1, 2, 3], "not as many"),
])
def test_what_are_no_ids_is_refused(users, message):
    values = users if hasattr(users, "cat") else np.array(
        users, dtype=object if any(isinstance(one, str) for one in users) else None)
    with pytest.raises(bet.BadInput, match=message):
        bet.fit((values, np.array([1, 2])), **QUICK)


def test_columns_that_are_not_there(ratings):
    with pytest.raises(bet.BadInput, match="user='who'.*'user_id'"):
        bet.fit(ratings[1], user="who", **QUICK)
    with pytest.raises(bet.BadInput, match="no column of items"):
        bet.fit(ratings[1][["user_id", "rating"]], **QUICK)
    with pytest.raises(bet.BadInput, match="expected a DataFrame"):
        bet.fit(17, **QUICK)
    with pytest.raises(bet.BadInput, match="needs ratings"):
        bet.fit(ratings[1][["user_id", "movie_id"]], min_rating=3, **QUICK)


class Frame:
    """As much of a Polars DataFrame as is used: columns, and series with to_numpy()."""

    class Series:
        def __init__(self, values):
            self.to_numpy = lambda: values

    def __init__(self, table):
        self.columns = list(table)
        self._table = table

    def __getitem__(self, name):
        return Frame.Series(self._table[name].to_numpy())


def test_tables_by_their_numpy_columns(ratings, program_file):
    assert bytes_of(bet.fit(Frame(ratings[1]), name="ratings", **QUICK)) == program_file


def test_polars(ratings, program_file):
    polars = pytest.importorskip("polars")
    assert bytes_of(bet.fit(polars.from_pandas(ratings[1]), name="ratings", **QUICK)) == program_file


def test_unknown_options_and_values(pairs):
    with pytest.raises(bet.UnknownOption, match="unknown option 'max_step'; did you mean 'max_steps'"):
        bet.fit(pairs, max_step=1)
    with pytest.raises(TypeError):
        bet.fit(pairs, colour="red")
    with pytest.raises(bet.BadInput, match="backbone: 'gcn' is not one of"):
        bet.fit(pairs, budget="5%", backbone="gcn")
    with pytest.raises(bet.BadInput, match="max_steps=1.5: it is an integer"):
        bet.fit(pairs, max_steps=1.5)
    with pytest.raises(bet.BadInput, match="format='csv' is for files"):
        bet.fit(pairs, format="csv")
    with pytest.raises(bet.BudgetError):
        bet.fit(pairs, budget="nothing")
    with pytest.raises(bet.BudgetError):
        bet.fit(pairs, budget="100p", method="es", progress=False)


def test_options_are_those_of_the_program(pairs):
    text = subprocess.run([BUILD / "bet", "fit", "--help"], capture_output=True, text=True,
                          check=True).stdout
    program = {word[2:].rstrip(",") for line in text.splitlines() for word in line.split()[:1]
               if word.startswith("--")}
    mine = {name.replace("_", "-") for name in bet.fit.__signature__.parameters}
    mine |= {name + "-col" for name in ("user", "item", "rating", "time")}
    # Several processes make one run by the program alone.
    assert program - mine - {"help"} == {"config", "json", "quiet", "comm-timeout"}
    for name in ("max_steps : int", "budget : str", "min_rating : float"):
        assert name in bet.fit.__doc__


def test_the_result(pairs, tmp_path):
    result = bet.fit(pairs, out=tmp_path / "run", **QUICK)
    assert result.folder == str(tmp_path / "run")
    assert result.report["budget"]["requested"] == "10%"
    assert result.report["used"]["file_bytes"] == result.model.nbytes
    assert "recall@20" in repr(result) and "<iframe" in result._repr_html_()
    assert len(result.trials) == len(result.report.get("trials", []))
    with pytest.raises(bet.BadInput, match="run"):
        bet.fit(pairs, out=tmp_path / "run", **QUICK)
    before = bytes_of(result)
    result = bet.fit(pairs, out=tmp_path / "run", overwrite=True, **QUICK)
    assert bytes_of(result) == before
    again = bet.fit(pairs, out=tmp_path / "run", resume=True, **QUICK)
    assert again.report["seconds"] == result.report["seconds"]  # it was complete
    result.save(tmp_path / "copy")
    assert bet.Model.open(tmp_path / "copy").num_users == 300
    # What was trained in memory cannot be found by the program: it says so.
    text = subprocess.run([BUILD / "bet", "evaluate", tmp_path / "run", "(in memory)"],
                          capture_output=True, text=True, check=False).stderr
    assert "in memory" in text


def test_a_temporary_folder_lives_as_long_as_the_model(pairs, tmp_path):
    model = bet.fit(pairs, **QUICK).model
    assert os.path.exists(model.path)
    model.save(tmp_path / "kept.bet")
    folder = pathlib.Path(model.path).parent
    del model
    assert not folder.exists()
    assert bet.Model.open(tmp_path / "kept.bet").num_items == 80


def test_progress_goes_to_a_function(pairs):
    heard = []
    bet.fit(pairs, **{**QUICK, "progress": heard.append, "max_steps": 400})
    assert any("300 users" in one.get("message", "") for one in heard)
    assert {"phase", "done", "total", "detail", "line"} in [set(one) for one in heard]


def test_an_error_of_the_function_ends_the_run(pairs):
    def fail(_):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        bet.fit(pairs, **{**QUICK, "progress": fail})


INTERRUPTED = textwrap.dedent("""
    import os, signal, sys, threading
    import numpy as np
    import bet
    random = np.random.default_rng(1)
    pairs = random.integers(0, 3000, 60000), random.integers(0, 2000, 60000)
    sent = []

    def heard(event):
        if event.get("phase") == "train" and event["done"] > 0 and not sent:
            sent.append(1)
            os.kill(os.getpid(), signal.SIGINT)

    other = []
    threading.Thread(target=lambda: other.append(1)).start()   # the GIL is free meanwhile
    result = bet.fit(pairs, method="es", budget="10%", backbone="mf", loss="bpr",
                     schedule="paper", max_steps=1000000, progress=heard)
    assert sent and result.report["interrupted"], (sent, result.report["interrupted"])
    print(result.model.recommend(5, 3)[0].size)
""")


def test_ctrl_c_ends_with_the_best_so_far():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.stdout.strip() == "3", done.stderr


def test_compare(ratings, tmp_path):
    options = {**QUICK, "budget": ["10%", "20%"], "method": "es,mr", "max_steps": 10}
    comparison = bet.compare(ratings[1], out=tmp_path / "runs", name="ratings", **options)
    cells = comparison.cells
    assert cells["budget"].tolist() == ["10%", "20%"] * 2 and (cells["test_recall"] > 0).all()
    results = comparison.results
    assert len(results) == 4 and set(results["data"]) == {"ratings"}
    pairs = comparison.pairs  # es against mr: two budgets by two metrics
    assert len(pairs) == 4 and pairs["p"].between(0, 1).all()
    again = bet.compare(ratings[0], out=tmp_path / "runs", **options)  # all are there
    assert again.results.equals(results)
    assert comparison.within == []
    close = bet.compare(ratings[0], out=tmp_path / "runs", within="90%", **options)
    assert len(close.within) == 1 and "full" in set(close.cells["method"])
    with pytest.raises(bet.BadInput, match="'much' is not a percentage"):
        bet.compare(ratings[0], within="much", **options)
    with pytest.raises(bet.UnknownOption, match="did you mean 'seeds'"):
        bet.compare(ratings[0], seds=2)


def test_vectors_are_ready_for_faiss_and_hnswlib(pairs):
    faiss = pytest.importorskip("faiss")
    hnswlib = pytest.importorskip("hnswlib")
    model = bet.fit(pairs, **{**QUICK, "backbone": "lightgcn", "score": "dot"}).model
    items, users, ids = model.item_vectors(), model.user_vectors(), model.item_ids
    index = faiss.IndexFlatIP(model.dimension)
    index.add(items)
    scores, places = index.search(users[:20], 5)
    for row, user in enumerate(model.user_ids[:20]):
        wanted, wanted_scores = model.recommend(user, 5, include_seen=True)
        assert np.allclose(scores[row], wanted_scores, rtol=1e-4, atol=1e-6)
        assert np.allclose(model.scores(user, ids[places[row]]), wanted_scores, rtol=1e-4, atol=1e-6)
    graph = hnswlib.Index(space="cosine", dim=model.dimension)
    graph.init_index(max_elements=len(items), ef_construction=200, M=16, random_seed=1)
    graph.add_items(items, np.arange(len(items)))
    graph.set_ef(len(items))
    places, distances = graph.knn_query(items[:10], k=4)
    for row, item in enumerate(ids[:10]):
        assert np.allclose(1 - distances[row, 1:], model.similar(item, 3)[1], atol=2e-3)


def test_vectors_by_graph_are_those_of_single_requests(pairs):
    model = bet.fit(pairs, **{**QUICK, "backbone": "lightgcn"}).model
    assert model.info["serving"] == "graph"
    users, items = model.user_vectors(), model.item_vectors()
    for row, user in enumerate(model.user_ids[:7]):
        assert np.allclose(users[row], model.user_vector(user), rtol=1e-4, atol=1e-7)
    for row, item in enumerate(model.item_ids[:7]):
        assert np.allclose(items[row], model.item_vector(item), rtol=1e-4, atol=1e-7)


def test_ncf_has_no_vectors(pairs, tmp_path):
    model = bet.fit(pairs, **{**QUICK, "backbone": "ncf", "max_steps": 2}).model
    assert model.dimension == 0 and model.recommend(1000, 3)[0].size == 3
    with pytest.raises(bet.BadInput, match="ncf has no vectors"):
        model.item_vectors()
    with pytest.raises(bet.BadInput, match="ncf has no vectors"):
        model.to_npz(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())
