#!/usr/bin/python3
# %% [markdown]
# # From a DataFrame to a served file
# Cells for a notebook (`# %%`), and a program: `from_dataframe.py [RATINGS.csv MOVIES.csv]`, the files of MovieLens'
# ml-latest-small or files like these. Without files it makes up data of the same form.

# %%
import sys

import numpy as np
import pandas as pd

import bet


def made_up(seed: int = 1):
    """As ml-100k: 943 users rate films of the genres that they like."""
    random = np.random.default_rng(seed)
    genres = np.array(["Comedy", "Drama", "Horror", "Western"])
    movies = pd.DataFrame({"movieId": np.arange(1, 601), "genre": genres[random.integers(0, 4, 600)]})
    movies["title"] = movies["genre"] + " no. " + movies["movieId"].astype(str)
    tastes = random.dirichlet(np.full(4, 0.3), 943)
    rows = []
    for user, taste in enumerate(tastes, 1):
        weights = taste[movies["genre"].map(dict(zip(genres, range(4))))] / (movies["movieId"] + 20.0)
        chosen = random.choice(movies["movieId"], 40, replace=False, p=weights / weights.sum())
        rows.append(pd.DataFrame({"userId": user, "movieId": chosen}))
    ratings = pd.concat(rows, ignore_index=True)
    ratings["rating"] = random.integers(1, 6, len(ratings))
    return ratings, movies


# %% [markdown]
# The interactions are a DataFrame; the columns are found by their names.

# %%
if len(sys.argv) == 3:
    ratings, movies = pd.read_csv(sys.argv[1]), pd.read_csv(sys.argv[2])
else:
    ratings, movies = made_up()
print(ratings.head(3))

# %% [markdown]
# A model file of at most 64 KiB (256 KiB for the larger data). Ctrl-C ends with the best so far.

# %%
budget = "256KiB" if len(sys.argv) == 3 else "64KiB"
result = bet.fit(ratings, name="ratings", budget=budget, effort="quick", backbone="mf", min_rating=2,
                 progress=False)
result.model.save("model.bet")
print(result)
print(result.model.nbytes, "bytes, of at most", result.report["budget"]["bytes"])

# %% [markdown]
# The file needs no training library: `bet.Model` answers from it here, `bet-serve http model.bet` over HTTP.

# %%
model = bet.Model.open("model.bet")
user = ratings["userId"].iloc[0]
ids, scores = model.recommend(user, k=5)
titles = movies.set_index("movieId")["title"]
print(pd.DataFrame({"movieId": ids, "title": titles.reindex(ids).to_numpy(), "score": scores}))

# %% [markdown]
# Somebody who is not in the file, similar films, and everybody's list in one file.

# %%
new_ids, _ = model.recommend_for(ids[:2], k=3)
print("with", list(titles.reindex(ids[:2])), "also", list(titles.reindex(new_ids)))
print("like", titles[ids[0]], "are", list(titles.reindex(model.similar(ids[0], k=3)[0])))
print(model.recommend_all(20, "top.csv"), "users in top.csv")
