#!/usr/bin/env python3
"""tools/load_test.py BET_SERVE MODEL OTHER_MODEL --seconds N

Serves MODEL and throws everything at it at once: good requests, whose answers are compared with what
`bet-serve recommend --json` says; malformed and oversized ones; connections that are half open, slow
or reset; and reloads between the two models (of the same users and items) and a broken file. Prints
what happened. Exit 1 on a crash, a wrong answer or status, a failed reload, or, in runs of a minute
and more, memory that grows."""
import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

TIMEOUT_S = 2.0     # the server's
SLACK_S = 5.0       # what a busy machine may add to it
MAX_BODY = 65_536

# Whole requests that must be refused, and with what.
BAD_REQUESTS = [
    (b"GET /recommend HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (b"GET /recommend?user=%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (b"GET /recommend?user=no-such-user HTTP/1.1\r\nHost: x\r\n\r\n", 404),
    (b"GET /recommend?user=1&k=100000 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (b"GET /similar?item=no-such-item HTTP/1.1\r\nHost: x\r\n\r\n", 404),
    (b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", 404),
    (b"DELETE /recommend HTTP/1.1\r\nHost: x\r\n\r\n", 405),
    (b"GET / HTTP/1.1\r\n\r\n", 400),
    (b"GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505),
    (b"\x16\x03\x01\x02\x00\x01\x00", 400),
    (b"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    (b"GET / HTTP/1.1\nHost: x\n\n", 400),
    (b"GET / HTTP/1.1\r\nHost: x\r\n folded: y\r\n\r\n", 400),
    (b"POST /recommend HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
    (b"POST /recommend HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400),
    (b"POST /recommend HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 400),
    (b"POST /recommend HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n" + b"[" * 40, 400),
]
OVERSIZED_REQUESTS = [
    (b"GET /?" + b"a" * 9_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
    (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: " + b"b" * 20_000 + b"\r\n\r\n", 431),
    (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 200 + b"\r\n", 431),
    (b"POST /recommend HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n" + b"x" * 3_000_000, 413),
]


class Server:
    """The program, serving a file of its own folder."""

    def __init__(self, program, model, folder):
        self.program = program
        self.file = folder / "served.bet"
        shutil.copy(model, self.file)
        self.errors = open(folder / "stderr", "w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen(
            [program, "http", str(self.file), "--port", "0", "--timeout", str(TIMEOUT_S),
             "--max-body", str(MAX_BODY)], stderr=self.errors)
        self.host, self.port = self._address()

    def _address(self):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and self.process.poll() is None:
            text = self.said()
            if " serves " in text:
                host, port = text.split("http://")[1].split(" ")[0].rsplit(":", 1)
                return host, int(port)
            time.sleep(0.01)
        raise SystemExit(f"the server does not start: {self.said()}")

    def said(self):
        return pathlib.Path(self.errors.name).read_text(encoding="utf-8", errors="replace")

    def connect(self, timeout=TIMEOUT_S + SLACK_S):
        return socket.create_connection((self.host, self.port), timeout=timeout)

    def get(self, path):
        client = http.client.HTTPConnection(self.host, self.port, timeout=30)
        client.request("GET", path)
        body = client.getresponse().read()
        client.close()
        return body

    def reloads(self):
        counts = [int(line.split()[-1]) for line in self.get("/metrics").decode().splitlines()
                  if line.startswith("bet_model_reloads_total{")]
        return tuple(counts)  # good, bad

    def resident_bytes(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return 1024 * int(line.split()[1])
        return 0


class Load:
    def __init__(self, server, models, users):
        self.server = server
        self.models = models
        self.users = users
        self.expected = [{user: self._asked(model, user) for user in users} for model in models]
        self.ends = threading.Event()
        self.lock = threading.Lock()
        self.statuses = collections.Counter()
        self.events = collections.Counter()
        self.problems = []
        self.latencies = []
        self.resident = []

    def _asked(self, model, user):
        return subprocess.run([self.server.program, "recommend", model, "--user", user, "-k", "10",
                               "--json"], check=True, capture_output=True).stdout

    def problem(self, text):
        with self.lock:
            self.problems.append(text)

    # --- good ones -----------------------------------------------------------------------------
    def good(self, rng):
        client = http.client.HTTPConnection(self.server.host, self.server.port, timeout=30)
        last = time.monotonic()
        while not self.ends.is_set():
            user = rng.choice(self.users)
            as_batch = rng.random() < 0.1
            start = time.monotonic()
            try:
                if as_batch:
                    client.request("POST", "/recommend", json.dumps({"users": [user], "k": 10}))
                else:
                    client.request("GET", f"/recommend?user={urllib.parse.quote(user)}&k=10")
                sent = time.monotonic()
                response = client.getresponse()
                body = response.read()
            except ConnectionError:
                # The server may close what has been silent for long; this one was starved.
                if time.monotonic() - last < TIMEOUT_S:
                    raise
                client.close()
                last = time.monotonic()
                self.events["good, idle too long"] += 1
                continue
            last = time.monotonic()
            with self.lock:
                self.latencies.append(last - start)
                self.statuses["good", response.status] += 1
            if response.status == 503 or (response.status == 408 and sent - start > TIMEOUT_S):
                continue
            right = [answers[user] for answers in self.expected]
            if as_batch:
                right = [b'{"answers":[' + answer.strip() + b"]}\n" for answer in right]
            if response.status != 200 or body not in right:
                self.problem(f"user {user}: {response.status} {body[:200]!r}")
        client.close()

    # --- all the others ------------------------------------------------------------------------
    def _refused(self, kind, request, status):
        with self.server.connect() as client:
            start = time.monotonic()
            try:
                client.sendall(request)
            except OSError:
                pass  # it may stop listening in the midst of what is too large
            was_slow = time.monotonic() - start > TIMEOUT_S  # a machine with no time for us
            line = client.makefile("rb").readline()
        found = int(line.split()[1]) if line.startswith(b"HTTP/1.1 ") else 0
        with self.lock:
            self.statuses[kind, found] += 1
        if found not in (status, 503) and not (was_slow and found == 408):
            self.problem(f"{kind}: {request[:60]!r}: {found} instead of {status}")

    def bad(self, rng):
        while not self.ends.wait(0.005):
            self._refused("bad", *rng.choice(BAD_REQUESTS))

    def oversized(self, rng):
        while not self.ends.wait(0.02):
            self._refused("oversized", *rng.choice(OVERSIZED_REQUESTS))

    def half_open(self, rng):
        held = collections.deque()
        while not self.ends.wait(0.01):
            client = self.server.connect()
            client.sendall(rng.choice([b"", b"G", b"GET /recommend?us", b"GET / HTTP/1.1\r\nHost: x\r\n",
                                       b"POST /recommend HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"]))
            held.append(client)
            self.events["half open"] += 1
            if len(held) > 150:
                held.popleft().close()
        for client in held:
            client.close()

    def slow(self, rng):
        while not self.ends.is_set():
            with self.server.connect() as client:
                start = time.monotonic()
                try:
                    for byte in b"GET /recommend?user=1 HTTP/1.1\r\nHost: " + b"x" * 10_000:
                        client.sendall(bytes([byte]))
                        if self.ends.wait(0.02 + 0.02 * rng.random()):
                            return
                        if time.monotonic() - start > TIMEOUT_S + SLACK_S:
                            self.problem("a slow request is not cut off")
                            break
                except OSError:
                    pass
                self.events["slow, cut off"] += 1

    def reset(self, rng):
        while not self.ends.wait(0.01):
            client = self.server.connect()
            user = urllib.parse.quote(rng.choice(self.users))
            client.sendall(f"GET /recommend?user={user} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
            self.events["reset"] += 1

    def reload(self, rng):
        now = 0
        while not self.ends.wait(0.2):
            breaks = rng.random() < 0.25
            following = now if breaks else 1 - now
            beside = self.server.file.with_suffix(".new")
            whole = pathlib.Path(self.models[following]).read_bytes()
            beside.write_bytes(whole[:rng.randrange(len(whole))] if breaks else whole)
            before = self.server.reloads()
            os.replace(beside, self.server.file)
            self.server.process.send_signal(signal.SIGHUP)
            wanted = (before[0] + (not breaks), before[1] + breaks)
            deadline = time.monotonic() + 30
            while self.server.reloads() != wanted:
                if time.monotonic() > deadline:
                    return self.problem(f"reloads {self.server.reloads()} instead of {wanted}")
                time.sleep(0.01)
            now = following
            user = rng.choice(self.users)
            answer = self.server.get(f"/recommend?user={urllib.parse.quote(user)}&k=10")
            if answer != self.expected[now][user]:
                self.problem(f"user {user}: not of the model that was just read")
            self.events["bad reloads" if breaks else "good reloads"] += 1

    def watch_memory(self, _rng):
        while not self.ends.wait(0.5):
            self.resident.append(self.server.resident_bytes())

    # --- and what came of it -------------------------------------------------------------------
    def _guarded(self, work, seed):
        try:
            work(random.Random(seed))
        except Exception as error:  # pylint: disable=broad-except
            self.problem(f"{work.__name__}: {type(error).__name__}: {error}")

    def run(self, seconds):
        kinds = [self.good] * 4 + [self.bad, self.oversized, self.half_open, self.slow, self.reset,
                                   self.reload, self.watch_memory]
        threads = [threading.Thread(target=self._guarded, args=(kind, seed))
                   for seed, kind in enumerate(kinds)]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.server.process.poll() is None:
            time.sleep(0.1)
        self.ends.set()
        for thread in threads:
            thread.join()

    def check_end(self):
        if self.server.process.poll() is not None:
            self.problem(f"the server has ended: {self.server.process.returncode}")
            return
        self.server.process.send_signal(signal.SIGTERM)
        try:
            code = self.server.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.server.process.kill()
            code = "none in 30 s"
        if code != 0:
            self.problem(f"exit code after SIGTERM: {code}")

    def check_memory(self):
        """The last third against the second one: the first is for warming up."""
        third = len(self.resident) // 3
        before, after = max(self.resident[third:2 * third]), max(self.resident[-third:])
        if after > before * 1.1 + (1 << 20):
            self.problem(f"memory grows: {before} bytes, then {after}")

    def report(self, seconds):
        for (kind, status), count in sorted(self.statuses.items()):
            print(f"{kind:<14} {status:>4} {count:>10}")
        for event, count in sorted(self.events.items()):
            print(f"{event:<19} {count:>10}")
        times = sorted(self.latencies) or [0.0]
        print(f"good: {len(times) / seconds:.0f} a second, p50 {1e3 * times[len(times) // 2]:.2f} ms, "
              f"p99 {1e3 * times[len(times) * 99 // 100]:.2f} ms")
        resident = self.resident or [0]
        print(f"resident: first {resident[0]} bytes, last {resident[-1]}, most {max(resident)}")
        print("resident over time, MB: " + " ".join(
            f"{resident[i * (len(resident) - 1) // 15] / 1e6:.1f}" for i in range(16)))
        print(f"crashes: {int('ended' in ' '.join(self.problems))}, problems: {len(self.problems)}")
        for text in self.problems[:20]:
            print(f"  {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("models", nargs=2, metavar="MODEL")
    parser.add_argument("--seconds", type=float, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(options.program, options.models[0], pathlib.Path(folder))
        try:
            users = json.loads(server.get("/users?limit=40"))["users"]
            load = Load(server, options.models, users)
            load.run(options.seconds)
            load.check_end()
        finally:
            server.process.kill()
            server.process.wait()
        if options.seconds >= 60:
            load.check_memory()
        load.report(options.seconds)
    return 1 if load.problems else 0


if __name__ == "__main__":
    sys.exit(main())
