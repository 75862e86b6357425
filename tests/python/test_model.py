"""bet.Model, without training."""
import concurrent.futures
import gc
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import bet
from conftest import BUILD


def test_the_runtime_loads_no_training_library():
    code = ("import sys, bet; bet.Model; assert 'bet._train' not in sys.modules; "
            "maps = open('/proc/self/maps').read(); assert 'libtorch' not in maps, maps")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_ids_and_scores_are_two_arrays(toy):
    ids, scores = toy.recommend("ann", k=3)
    assert ids.tolist() == ["i4", "i3", "i1"] and ids.dtype == object
    assert scores.tolist() == [3.0, 2.0, 0.5] and scores.dtype == np.float32
    assert toy.recommend("ann", k=99)[0].size == 5
    assert toy.recommend("ann", k=0)[0].size == 0


def test_filters(toy):
    assert toy.recommend("ann", 9, include_seen=True)[0][0] == "i2"
    assert toy.recommend("ann", 9, exclude=["i4", "nothing"])[0].tolist() == ["i3", "i1", "i5", "i0"]
    assert toy.recommend("ann", 9, only=["i1", "i3", "i2"])[0].tolist() == ["i3", "i1"]
    assert toy.recommend("ann", 9, min_score=1)[0].tolist() == ["i4", "i3"]
    some = toy.item_set(["i1", "i3", "nothing"])
    assert len(some) == 2
    assert toy.recommend("ann", 9, only=some)[0].tolist() == ["i3", "i1"]
    assert toy.recommend("ann", 9, exclude=some, only=["i3", "i4"])[0].tolist() == ["i4"]
    with pytest.raises(bet.BadInput, match="list of ids"):
        toy.recommend("ann", 9, only="i1")


def test_a_set_of_another_model_is_refused(toy, toy_path):
    other = bet.Model.open(toy_path)
    with pytest.raises(bet.BadInput, match="another model"):
        toy.recommend("ann", only=other.item_set(["i1"]))


def test_unknown_users(toy):
    with pytest.raises(bet.NotFound, match="^unknown user 'eve'$"):
        toy.recommend("eve")
    with pytest.raises(KeyError):
        toy.recommend(["ann", "eve"])
    assert toy.recommend("eve", missing="empty")[0].size == 0
    ids, scores = toy.recommend("eve", missing="popular")
    assert sorted(ids) == ["i0", "i2", "i3"] and scores.tolist() == [1, 1, 1]
    ids, scores = toy.recommend(["eve", "ann"], k=4, missing="popular")
    assert sorted(ids[0][:3]) == ["i0", "i2", "i3"] and ids[0][3] is None and np.isnan(scores[0, 3])
    assert ids[1].tolist() == ["i4", "i3", "i1", "i5"]
    with pytest.raises(bet.BadInput, match="'raise', 'empty' or 'popular'"):
        toy.recommend("eve", missing="what")


def test_what_is_no_id_is_named(toy):
    with pytest.raises(bet.BadInput, match="a string or an integer, not 'None'"):
        toy.recommend([None])
    with pytest.raises(bet.BadInput):
        toy.scores("ann", [1.5])
    with pytest.raises(bet.NotFound, match="'17'"):
        toy.recommend(17)


def test_a_list_of_users_is_answered_as_each_of_them(toy):
    users = ["zoë", "ann", "bob", "ann"]
    ids, scores = toy.recommend(users, k=6)
    assert ids.shape == scores.shape == (4, 6)
    for row, user in enumerate(users):
        one, one_scores = toy.recommend(user, k=6)
        assert ids[row, :one.size].tolist() == one.tolist()
        assert scores[row, :one.size].tolist() == one_scores.tolist()
        assert ids[row, one.size:].tolist() == [None] * (6 - one.size)
    assert toy.recommend([], k=2)[0].shape == (0, 2)


def test_for_items_and_similar(toy):
    assert toy.recommend_for(["i2"], 2)[0].tolist() == ["i4", "i3"]
    with pytest.raises(bet.NotFound):
        toy.recommend_for(["i2", "nothing"])
    assert toy.recommend_for(["i2", "nothing"], 2, ignore_unknown=True)[0].tolist() == ["i4", "i3"]
    with pytest.raises(bet.BadInput):
        toy.recommend_for([])
    assert toy.similar_items("i2", 1)[0].tolist() == ["i3"]
    ids, scores = toy.popular()
    assert sorted(ids) == ["i0", "i2", "i3"] and scores.tolist() == [1, 1, 1]


def test_scores_are_those_of_recommend(toy):
    ids, scores = toy.recommend("bob", 6)
    assert toy.scores("bob", ids).tolist() == scores.tolist()
    assert np.isnan(toy.scores("bob", ["nothing"])[0])


def test_vectors_are_views_of_the_file(toy):
    items = toy.item_vectors()
    assert items.shape == (6, 2) and items.dtype == np.float32
    assert not items.flags.owndata and not items.flags.writeable
    products = toy.user_vectors() @ items.T
    place = {item: i for i, item in enumerate(toy.item_ids)}
    for row, user in enumerate(toy.user_ids):
        ids, scores = toy.recommend(user, 6, include_seen=True)
        assert [products[row, place[item]] for item in ids] == scores.tolist()
        assert toy.user_vector(user).tolist() == toy.user_vectors()[row].tolist()
    assert toy.item_vector("i2").tolist() == [4, 0]
    assert (toy.item_factors == items).all() and (toy.user_factors == toy.user_vectors()).all()


def test_vectors_keep_the_file_open(toy_path):
    vectors = bet.Model.open(toy_path).item_vectors()
    gc.collect()
    assert vectors.sum() == pytest.approx(-1 + 3 + .5 + 1 + 4 + 2 + 1 + 3 - 2)


def test_sizes_and_pickles(toy, toy_path):
    assert toy.nbytes == toy_path.stat().st_size == sum(toy.info["parts"].values())
    assert sys.getsizeof(toy) >= toy.nbytes and len(toy) == 3 and "ann" in toy and "eve" not in toy
    again = pickle.loads(pickle.dumps(toy))
    assert again.path == str(toy_path) and again.recommend("ann")[0][0] == "i4"


def test_many_threads(toy):
    wanted = toy.recommend("ann")[0].tolist()

    def ask(_):
        return toy.recommend("ann")[0].tolist() == wanted and toy.similar("i2", 1)[0][0] == "i3"

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(2000)))


def test_files_that_cannot_be_opened(tmp_path, toy_path):
    with pytest.raises(FileNotFoundError):
        bet.Model.open(tmp_path / "nothing.bet")
    damaged = bytearray(toy_path.read_bytes())
    damaged[-1] ^= 1
    (tmp_path / "damaged.bet").write_bytes(damaged)
    with pytest.raises(bet.BadInput, match="damaged.bet"):
        bet.Model.open(tmp_path / "damaged.bet")
    with pytest.raises(ValueError):
        bet.Model(tmp_path / "damaged.bet")


def test_all_users_in_a_file_as_the_program_writes_them(toy, toy_path, tmp_path):
    for name in ("top.csv", "top.jsonl"):
        assert toy.recommend_all(2, tmp_path / name) == 3
        subprocess.run([BUILD / "bet-serve", "recommend", toy_path, "--all", "-k", "2", "--out",
                        tmp_path / ("program-" + name)], check=True)
        assert (tmp_path / name).read_bytes() == (tmp_path / ("program-" + name)).read_bytes()
    ids, scores = toy.recommend_all(2)
    lines = (tmp_path / "top.csv").read_text().splitlines()[1:]
    assert [line.split(",")[2] for line in lines] == ids.ravel().tolist()
    with pytest.raises(bet.BadInput, match="top.what"):
        toy.recommend_all(2, tmp_path / "top.what")


def test_parquet(toy, tmp_path):
    try:
        import pyarrow.parquet
    except ImportError:
        with pytest.raises(bet.BadInput, match="needs pyarrow"):
            toy.recommend_all(2, tmp_path / "top.parquet")
        return
    toy.recommend_all(2, tmp_path / "top.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "top.parquet").to_pydict()
    assert table["item"][:2] == ["i4", "i3"] and table["rank"][:2] == [1, 2]


def test_npz(toy, tmp_path):
    toy.to_npz(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as arrays:  # allow_pickle is False
        assert arrays["item_ids"].tolist() == toy.item_ids.tolist()
        assert (arrays["user_vectors"] == toy.user_vectors()).all()


def read_safetensors(path):
    """As its documentation has it: the length of the header, the header, the tensors."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    body = data[8 + length:]
    about = header.pop("__metadata__")
    ends = sorted(entry["data_offsets"] for entry in header.values())
    assert [begin for begin, _ in ends] == [0] + [end for _, end in ends[:-1]]  # no gaps
    assert ends[-1][1] == len(body) and length % 8 == 0
    types = {"F32": np.float32, "I64": np.int64}
    return about, {name: np.frombuffer(body[slice(*entry["data_offsets"])], types[entry["dtype"]])
                   .reshape(entry["shape"]) for name, entry in header.items()}


def test_safetensors(toy, tmp_path):
    toy.to_safetensors(tmp_path / "model.safetensors")
    about, tensors = read_safetensors(tmp_path / "model.safetensors")
    assert (tensors["item_vectors"] == toy.item_vectors()).all()
    assert (tensors["user_vectors"] == toy.user_vectors()).all()
    assert json.loads(about["item_ids"]) == toy.item_ids.tolist() and about["score"] == "dot"
