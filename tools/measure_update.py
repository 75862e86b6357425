#!/usr/bin/env python3
"""Measures what `update` is worth, compared with training again and with doing nothing.

  tools/measure_update.py PROGRAMS DATA_FOLDER WORK OUT.jsonl [DATA:KIND..]

PROGRAMS is a folder with `bet` and `bet-serve`, DATA_FOLDER has gowalla and ml-100k. The items of each
user are in the order of time (ml-100k) or of the files (gowalla); `early` is the first 60 % of them,
`middle` the next 20 %, `late` the last 20 %, which are the test. Three questions:

  later   trained on early; updated with middle
  users   a tenth of the users is unknown to the training on early and middle of the others; updated
          with their early and middle; tested on these users
  items   the same with a tenth of the items; tested on these items

each against a training on early and middle of everybody. KIND is a backbone and a form of serving:
lightgcn-graph, lightgcn-materialised, mf or ncf. A line of OUT has one figure; those that OUT has
already are skipped, and so is what WORK has of models. tools/make_results.py makes table and picture
from these lines.
"""
import json
import math
import pathlib
import random
import subprocess
import sys
import time

CASES = ("ml-100k:lightgcn-graph", "ml-100k:lightgcn-materialised", "ml-100k:mf", "ml-100k:ncf",
         "gowalla:lightgcn-graph", "gowalla:lightgcn-materialised")
FIT = ["--split", "given", "--method", "es", "--budget", "10%", "--loss", "bpr", "--seed", "1", "--quiet"]
MOST_USERS = 1_500  # that are asked for recommendations, at random
K = 20
HELD_OUT = 10  # one of so many users, or items


def read(folder, data):
    """The items of each user in their order."""
    items = {}
    if data == "ml-100k":
        lines = [line.split() for line in (folder / data / "u.data").read_text().splitlines()]
        for user, item, _, _ in sorted(lines, key=lambda line: (int(line[3]), int(line[1]))):
            items.setdefault(user, []).append(item)
        return items
    for name in ("train.txt", "test.txt"):
        for line in (folder / data / name).read_text().splitlines():
            user, *more = line.split()
            items.setdefault(user, []).extend(more)
    return items


class Parts:
    """What is trained on, what is added and what is tested, for each of the questions."""

    def __init__(self, items):
        draw = random.Random(1)
        self.early, self.known, self.late = {}, {}, {}
        for user, own in items.items():
            first, second = round(0.6 * len(own)), round(0.8 * len(own))
            self.early[user], self.known[user], self.late[user] = own[:first], own[:second], own[second:]
        users = sorted(items)
        catalogue = sorted({item for own in items.values() for item in own})
        self.new_users = set(draw.sample(users, len(users) // HELD_OUT))
        self.new_items = set(draw.sample(catalogue, len(catalogue) // HELD_OUT))
        self.asked = set(draw.sample(users, min(MOST_USERS, len(users))))
        self.asked_new = set(draw.sample(sorted(self.new_users), min(MOST_USERS, len(self.new_users))))

    def trained_on(self, question):
        if question == "later":
            return self.early
        if question == "users":
            return {user: own for user, own in self.known.items() if user not in self.new_users}
        if question == "items":
            return {user: [item for item in own if item not in self.new_items]
                    for user, own in self.known.items()}
        return self.known  # everything

    def added(self, question):
        trained = self.trained_on(question)
        return {user: [item for item in own if item not in set(trained.get(user, ()))]
                for user, own in self.known.items()}

    def test(self, question):
        if question == "users":
            wanted = {user: self.late[user] for user in self.asked_new}
        elif question == "items":
            wanted = {user: [item for item in self.late[user] if item in self.new_items] for user in self.asked}
        else:
            wanted = {user: self.late[user] for user in self.asked}
        return {user: set(own) for user, own in sorted(wanted.items()) if own}


class Study:
    def __init__(self, programs, data_folder, work, out):
        self.bet, self.serve = str(programs / "bet"), str(programs / "bet-serve")
        self.data_folder, self.work, self.out = data_folder, work, out
        self.lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
        self.commit = subprocess.run(["git", "-C", str(pathlib.Path(__file__).parent), "rev-parse", "--short", "HEAD"],
                                     check=True, capture_output=True, text=True).stdout.strip()

    def run(self, command):
        start = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.monotonic() - start

    def trained(self, parts, data, kind, question):
        """The model file, and the seconds that its training took."""
        backbone, _, serving = kind.partition("-")
        run = self.work / f"{data}-{backbone}-{question}"
        taken = run.with_suffix(".seconds")
        if not taken.exists():
            folder = self.work / f"data-{data}-{question}" / data
            folder.mkdir(parents=True, exist_ok=True)
            trained = parts.trained_on(question)
            known = {item for own in trained.values() for item in own}
            tested = {user: [item for item in parts.late[user] if item in known] for user in trained if trained[user]}
            for name, lists in (("train.txt", trained), ("test.txt", tested)):
                (folder / name).write_text("".join(
                    " ".join((user, *own)) + "\n" for user, own in lists.items() if own))
            command = [self.bet, "fit", str(folder), *FIT, "--backbone", backbone, "--out", str(run), "--overwrite"]
            if backbone == "lightgcn":
                command += ["--serving", "graph"]
            taken.write_text(f"{self.run(command):.1f}\n")
        model = run / "model.bet"
        if serving == "materialised":
            model = run.with_suffix(".materialised.bet")
            if not model.exists():
                self.run([self.bet, "export", str(run), "--serving", "materialised", "--out", str(model)])
        return model, float(taken.read_text())

    def updated(self, parts, data, kind, question, before):
        file = self.work / f"{data}-{question}-added.csv"
        pairs = [f"{user},{item}\n" for user, own in parts.added(question).items() for item in own]
        file.write_text("user,item\n" + "".join(pairs))
        model = self.work / f"{data}-{kind}-{question}-updated.bet"
        return model, self.run([self.serve, "update", str(before), str(file), "--out", str(model)])

    def quality(self, model, test, left_out):
        """Recall and NDCG at 20, of answers without these items of each user."""
        users, answers = self.work / "users.txt", self.work / "answers.jsonl"
        users.write_text("".join(f"{user}\n" for user in test))
        most = max((len(left_out.get(user, ())) for user in test), default=0)
        self.run([self.serve, "recommend", str(model), "--users", str(users), "-k", str(K + most),
                  "--missing", "popular", "--out", str(answers)])
        recall = ndcg = 0.0
        for line in answers.read_text().splitlines():
            answer = json.loads(line)
            wanted = test[answer["user"]]
            hidden = set(left_out.get(answer["user"], ()))
            best = [item["item"] for item in answer["items"] if item["item"] not in hidden][:K]
            gains = [1 / math.log2(rank + 2) for rank, item in enumerate(best) if item in wanted]
            recall += len(gains) / len(wanted)
            ndcg += sum(gains) / sum(1 / math.log2(rank + 2) for rank in range(min(K, len(wanted))))
        return recall / len(test), ndcg / len(test)

    def has(self, **key):
        return any(all(line[name] == value for name, value in key.items()) for line in self.lines)

    def measure(self, parts, data, kind, question, variant, make, left_out):
        key = {"data": data, "kind": kind, "question": question, "variant": variant}
        if self.has(**key):
            return
        model, seconds = make()
        test = parts.test(question)
        recall, ndcg = self.quality(model, test, left_out)
        line = {**key, "recall": round(recall, 5), "ndcg": round(ndcg, 5), "users": len(test),
                "pairs": sum(map(len, test.values())), "seconds": round(seconds, 2),
                "bytes": model.stat().st_size, "seed": 1, "commit": self.commit, "command": FIT}
        self.lines.append(line)
        with self.out.open("a") as out:
            out.write(json.dumps(line) + "\n")
        print(f"{data} {kind} {question}: {variant} {recall:.4f}", flush=True)

    def case(self, data, kind):
        parts = Parts(read(self.data_folder, data))
        for question in ("later", "users", "items"):
            before = lambda q=question: self.trained(parts, data, kind, q)
            self.measure(parts, data, kind, question, "no update", before, parts.known)
            if question == "later":
                self.measure(parts, data, kind, question, "no update, clicks repeated", before, {})
            self.measure(parts, data, kind, question, "update",
                         lambda q=question: self.updated(parts, data, kind, q, before()[0]), {})
            self.measure(parts, data, kind, question, "trained again",
                         lambda: self.trained(parts, data, kind, "all"), {})


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    programs, data_folder, work, out = map(pathlib.Path, sys.argv[1:5])
    work.mkdir(parents=True, exist_ok=True)
    study = Study(programs.resolve(), data_folder, work.resolve(), out)
    for case in sys.argv[5:] or CASES:
        study.case(*case.split(":"))


if __name__ == "__main__":
    main()
