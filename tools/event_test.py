#!/usr/bin/env python3
"""tools/event_test.py BET_SERVE MODEL --seconds N [--kill-every 20]

Serves a copy of MODEL with --allow-updates, sends events (POST /events) and reads (GET /recommend,
/seen) from several threads, and kills the server (kill -9) every so many seconds and starts it again.
After each start every acknowledged event must be there: in /seen, and in no recommendation. At the
end the model that is served must be what `bet-serve update` makes of MODEL with the same events.
Prints what happened. Exit 1 on an event that was acknowledged and is lost, on a wrong answer or
status, and, in runs of two minutes and more, on memory that grows beyond what the events take."""
import argparse
import collections
import http.client
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

WRITERS, READERS = 2, 2
NEW_USERS, NEW_ITEMS = 300, 200  # whose ids the writers draw from, beside those of the model


class Server:
    def __init__(self, program, model):
        self.program, self.model = program, model
        self.process, self.port = None, 0
        self.lock = threading.Lock()
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.program, "http", str(self.model), "--port", str(self.port), "--allow-updates", "--threads", "4"],
            stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        while " serves " not in line:
            if not line:
                raise RuntimeError(f"the server did not start: {self.process.wait()}")
            line = self.process.stderr.readline()
        self.port = int(line.split("http://127.0.0.1:")[1].split()[0])
        # Later messages are read so that the pipe does not fill.
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def resident_bytes(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return 1024 * int(line.split()[1])
        return 0


class Client:
    """A connection that is made again after the server was killed."""

    def __init__(self, server):
        self.server, self.connection = server, None

    def ask(self, method, path, body=None):
        """Status and JSON; None where the connection broke."""
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
            headers = {"Content-Type": "application/json"} if body is not None else {}
            self.connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = self.connection.getresponse()
            return response.status, json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError):
            self.connection = None
            time.sleep(0.01)
            return None

    def must(self, method, path, body=None):
        """The same, for times at which nobody kills the server."""
        for _ in range(100):
            answer = self.ask(method, path, body)
            if answer is not None:
                return answer
        raise RuntimeError(f"no answer to {method} {path}")


def path_of(route, user, **more):
    return f"{route}?" + urllib.parse.urlencode({"user": user, **more})


class Test:
    def __init__(self, server, users, items):
        self.server = server
        self.users = users + [f"new user {i}" for i in range(NEW_USERS)]
        self.items = items + [f"new item {i}" for i in range(NEW_ITEMS)]
        self.acknowledged = collections.defaultdict(set)
        self.sent = collections.defaultdict(set)
        self.lock = threading.Lock()
        self.counts = collections.Counter()
        self.problems = []
        self.resident, self.file_bytes = [], []
        self.ends = threading.Event()

    def problem(self, text):
        with self.lock:
            self.problems.append(text)

    def write(self, rng):
        client = Client(self.server)
        while not self.ends.is_set():
            user = rng.choice(self.users)
            items = rng.sample(self.items, rng.randint(1, 3))
            with self.lock:
                self.sent[user].update(items)
            answer = client.ask("POST", "/events", {"user": user, "items": items})
            if answer is None:
                self.counts["writes, cut off"] += 1
                continue
            status, body = answer
            if status != 200 or body.get("added", -1) + body.get("known", -1) != len(items):
                self.problem(f"POST /events: {status} {body}")
                continue
            with self.lock:
                self.acknowledged[user].update(items)
            self.counts["writes"] += 1
            if rng.random() < 0.3:  # the very next request knows them
                self.check(client, user, "the request after it")

    def read(self, rng):
        client = Client(self.server)
        while not self.ends.is_set():
            self.check(client, rng.choice(self.users), "a later request")
            self.counts["reads"] += 1

    def check(self, client, user, when):
        with self.lock:
            known, is_known = set(self.acknowledged[user]), bool(self.acknowledged[user])
        answer = client.ask("GET", path_of("/recommend", user, k=100))
        if answer is None:
            return
        status, body = answer
        if status == 404 and (is_known or not user.startswith("new user ")):
            self.problem(f"{when}: {user} is unknown")
        elif status == 200:
            again = known & {item["item"] for item in body["items"]}
            if again:
                self.problem(f"{when}: {user} is recommended {sorted(again)[:3]} again")
        elif status not in (404, 503):
            self.problem(f"{when}: {status} {body}")

    def check_all(self, when):
        """Every acknowledged event is there, and nothing that was not sent."""
        client = Client(self.server)
        with self.lock:
            known = {user: (set(items), set(self.sent[user])) for user, items in self.acknowledged.items() if items}
        for user, (acknowledged, _) in known.items():
            status, body = client.must("GET", path_of("/seen", user))
            lost = acknowledged - set(body.get("items", ()))
            if status != 200 or lost:
                self.problem(f"{when}: {user} has lost {len(lost)} events, status {status}")
        self.counts["checks of all"] += 1

    def settle(self):
        client = Client(self.server)
        deadline = time.monotonic() + 60
        while client.must("GET", "/events")[1]["waiting"] > 0:
            if time.monotonic() > deadline:
                return self.problem("events wait for more than a minute")
            time.sleep(0.02)

    def run(self, seconds, kill_every):
        kinds = [self.write] * WRITERS + [self.read] * READERS
        threads = [threading.Thread(target=self._guarded, args=(kind, seed)) for seed, kind in enumerate(kinds)]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + seconds
        rng = random.Random(100)
        while time.monotonic() < deadline and not self.problems:
            pause = min(kill_every * (0.75 + 0.5 * rng.random()), deadline - time.monotonic())
            for _ in range(max(1, int(pause / 0.25))):
                time.sleep(pause / max(1, int(pause / 0.25)))
                self.resident.append(self.server.resident_bytes())
                self.file_bytes.append(self.server.model.stat().st_size)
            status = Client(self.server).must("GET", "/events")[1]
            self.counts["compactions"] += status["compactions"]
            self.server.kill()
            self.server.start()
            self.counts["kills"] += 1
            self.check_all("after a kill")
        self.ends.set()
        for thread in threads:
            thread.join()

    def _guarded(self, work, seed):
        try:
            work(random.Random(seed))
        except Exception as error:  # pylint: disable=broad-except
            self.problem(f"{work.__name__}: {type(error).__name__}: {error}")

    def check_end(self, original, folder):
        """The same as `update` makes of the original file."""
        self.settle()
        self.check_all("at the end")
        client = Client(self.server)
        rows, answers = ["user,item"], {}
        for user in self.users:
            status, body = client.must("GET", path_of("/seen", user))
            if status == 404:
                continue
            extra = set(body["items"]) - self.sent[user] - self.before[user]
            if extra:
                self.problem(f"{user} has {len(extra)} items that nobody sent")
            rows += [f"{user},{item}" for item in body["items"]]
            answers[user] = client.must("GET", path_of("/recommend", user, k=10))[1]["items"]
        events, updated = folder / "all.csv", folder / "updated.bet"
        events.write_text("\n".join(rows) + "\n")
        subprocess.run([self.server.program, "update", original, str(events), "--out", str(updated)],
                       check=True, stderr=subprocess.DEVNULL)
        (folder / "users.txt").write_text("".join(f"{user}\n" for user in answers))
        subprocess.run([self.server.program, "recommend", str(updated), "--users", str(folder / "users.txt"),
                        "-k", "10", "--out", str(folder / "top.jsonl")], check=True)
        for line in (folder / "top.jsonl").read_text().splitlines():
            expected = json.loads(line)
            self.compare(expected["user"], expected["items"], answers[expected["user"]])
        self.counts["answers compared"] = len(answers)

    def compare(self, user, expected, found):
        """Rows are in another order, so that sums differ in their last bits."""
        scores = [[item["score"] for item in items] for items in (expected, found)]
        far = [a for a, b in zip(*scores) if abs(a - b) > 1e-4 * max(1.0, abs(a))]
        if len(expected) != len(found) or far:
            self.problem(f"{user}: {found[:2]} instead of {expected[:2]}")

    def check_memory(self):
        """The last third against the second one: the first is for warming up. The model grows by its
        events, and is there four times while a new one is made."""
        third = len(self.resident) // 3
        before, after = max(self.resident[third:2 * third]), max(self.resident[-third:])
        grown = self.file_bytes[-1] - self.file_bytes[third]
        if after > before * 1.1 + (1 << 20) + 4 * grown:
            self.problem(f"memory grows: {before} bytes, then {after}, the file by {grown}")

    def report(self, seconds):
        for name, count in sorted(self.counts.items()):
            print(f"{name:<18} {count:>9}")
        events = sum(map(len, self.acknowledged.values()))
        print(f"acknowledged pairs {events:>9}, {self.counts['writes'] / seconds:.0f} writes and "
              f"{self.counts['reads'] / seconds:.0f} reads a second")
        resident = self.resident or [0]
        print("resident over time, MB: " + " ".join(
            f"{resident[i * (len(resident) - 1) // 15] / 1e6:.1f}" for i in range(16)))
        print("model file over time, KB: " + " ".join(
            f"{self.file_bytes[i * (len(resident) - 1) // 15] / 1e3:.0f}" for i in range(16)))
        print(f"problems: {len(self.problems)}")
        for text in self.problems[:20]:
            print(f"  {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--kill-every", type=float, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(options.model, folder / "m.bet")
        server = Server(options.program, folder / "m.bet")
        try:
            client = Client(server)
            users = client.must("GET", "/users?limit=200")[1]["users"]
            seen = {user: set(client.must("GET", path_of("/seen", user))[1]["items"]) for user in users}
            items = sorted(set().union(*seen.values()))[:400]
            test = Test(server, users, items)
            test.before = collections.defaultdict(set, seen)
            test.run(options.seconds, options.kill_every)
            if not test.problems:
                test.check_end(options.model, folder)
        finally:
            server.kill()
    if options.seconds >= 120:
        test.check_memory()
    test.report(options.seconds)
    return 1 if test.problems else 0


if __name__ == "__main__":
    sys.exit(main())
