#!/usr/bin/env python3
"""tools/load_test.py BET_SERVE MODEL OTHER_MODEL --seconds N [--flood RATE]

Serves MODEL and throws everything at it at once: good requests, whose answers are compared with what
`bet-serve recommend --json` says; malformed and oversized ones; connections that are half open, slow
or reset; and reloads between the two models (of the same users and items) and a broken file. With
--flood two processes open connections beside that, as fast as they can or up to RATE a second in
all: some are closed at once, some send half a request, some stay open and silent. Prints
what happened. Exit 1 on a crash, a wrong answer or status, a good request that gets no answer, a
failed reload, or, in runs of a minute and more, memory that grows."""
import argparse
import collections
import http.client
import json
import multiprocessing
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
GRACE_S = 0.1       # for so long the server keeps a new connection in any case
MAX_BODY = 65_536

# Whole requests that must be refused, and with what.
BAD_REQUESTS = [
    (b"GET /recommend HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    (b"GET /recommend?user=%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    (b"GET /recommend?user=no-such-user HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    (b"GET /recommend?user=1&k=100000 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    (b"GET /similar?item=no-such-item HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    (b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    (b"DELETE /recommend HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
    (b"GET / HTTP/1.1\r\n\r\n", 400),
    (b"GET / HTTP/3.0\r\nHost: localhost\r\n\r\n", 505),
    (b"\x16\x03\x01\x02\x00\x01\x00", 400),
    (b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    (b"GET / HTTP/1.1\nHost: x\n\n", 400),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\n folded: y\r\n\r\n", 400),
    (b"POST /recommend HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
    (b"POST /recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400),
    (b"POST /recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", 400),
    (b"POST /recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n\r\n" + b"[" * 40, 400),
]
OVERSIZED_REQUESTS = [
    (b"GET /?" + b"a" * 9_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"A: " + b"b" * 20_000 + b"\r\n\r\n", 431),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 200 + b"\r\n", 431),
    (b"POST /recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n" + b"x" * 3_000_000, 413),
]


FLOOD_HELD = 1_000  # silent connections that each process of the flood keeps


def flood(host, port, rate, ends, opened, failed):
    """Opens connections until `ends` is set. `rate`: how many a second, 0 for no limit."""
    held = collections.deque()
    start = time.monotonic()
    count = 0
    while not ends.is_set():
        if rate and count > rate * (time.monotonic() - start):
            time.sleep(0.001)
            continue
        count += 1
        client = socket.socket()
        client.settimeout(1)
        # Reset when closed: closed ports would wait for minutes, and there are too few of them.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        try:
            client.connect((host, port))
            opened.value += 1
            if count % 8 == 0:
                client.sendall(b"GET /recommend?us")
        except OSError:  # nobody accepts so fast
            failed.value += 1
        if count % 4 == 0:
            held.append(client)
            if len(held) > FLOOD_HELD:
                held.popleft().close()
        else:
            client.close()


class Flood:
    """The processes of the flood: in this one, Python runs one thread at a time."""

    def __init__(self, server, rate, processes=2):
        self.ends = multiprocessing.Event()
        self.counts = [(multiprocessing.Value("L"), multiprocessing.Value("L")) for _ in range(processes)]
        self.processes = [
            multiprocessing.Process(target=flood, daemon=True, args=(
                server.host, server.port, rate / processes, self.ends, *counts))
            for counts in self.counts]
        for process in self.processes:
            process.start()

    def stop(self):
        self.ends.set()
        for process in self.processes:
            process.join(timeout=30)
        return sum(opened.value for opened, _ in self.counts), sum(failed.value for _, failed in self.counts)


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

    def connect(self, timeout=60):
        return socket.create_connection((self.host, self.port), timeout=timeout)

    def get(self, path):
        for last in (False, False, True):
            client = http.client.HTTPConnection(self.host, self.port, timeout=60)
            try:
                client.request("GET", path)
                return client.getresponse().read()
            except ConnectionError:  # this thread was starved before it had sent the request
                if last:
                    raise
            finally:
                client.close()

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
        self.once_latencies = []
        self.resident = []
        self.is_flooded = False

    def _asked(self, model, user):
        return subprocess.run([self.server.program, "recommend", model, "--user", user, "-k", "10",
                               "--json"], check=True, capture_output=True).stdout

    def problem(self, text):
        with self.lock:
            self.problems.append(text)

    # --- good ones -----------------------------------------------------------------------------
    def good(self, rng):
        client = http.client.HTTPConnection(self.server.host, self.server.port, timeout=60)
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

    def good_once(self, rng):
        """A connection for each request."""
        while not self.ends.wait(0.002):
            user = rng.choice(self.users)
            start = time.monotonic()
            with self.server.connect(timeout=120) as client:
                connected = sent = time.monotonic()
                try:
                    client.sendall(f"GET /recommend?user={urllib.parse.quote(user)}&k=10 HTTP/1.1\r\n"
                                   "Host: localhost\r\nConnection: close\r\n\r\n".encode())
                    sent = time.monotonic()
                    answer = b"".join(iter(lambda c=client: c.recv(65_536), b""))
                except ConnectionError as error:
                    answer = str(error).encode()
            if sent - connected > GRACE_S and not answer.startswith(b"HTTP/1.1 200"):
                self.events["good, once, sent late"] += 1  # this thread was starved
                continue
            status = int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 0
            with self.lock:
                self.once_latencies.append(time.monotonic() - start)
                self.statuses["good, once", status] += 1
            if status == 503:
                continue
            if status != 200 or answer.partition(b"\r\n\r\n")[2] not in [
                    answers[user] for answers in self.expected]:
                self.problem(f"user {user}, once: {status} {answer[:200]!r}")

    # --- all the others ------------------------------------------------------------------------
    def _refused(self, kind, request, status):
        with self.server.connect() as client:
            start = time.monotonic()
            try:
                client.sendall(request)
            except OSError:
                pass  # it may stop listening in the midst of what is too large
            was_slow = time.monotonic() - start > TIMEOUT_S  # a machine with no time for us
            try:
                line = client.makefile("rb").readline()
            except ConnectionError:
                line = b""
        found = int(line.split()[1]) if line.startswith(b"HTTP/1.1 ") else 0
        with self.lock:
            self.statuses[kind, found] += 1
        # A slow request may have to make room for others.
        was_evicted = found == 0 and self.is_flooded
        if found not in (status, 503) and not was_evicted and not (was_slow and found == 408):
            self.problem(f"{kind}: {request[:60]!r}: {found} instead of {status}")

    def bad(self, rng):
        while not self.ends.wait(0.005):
            self._refused("bad", *rng.choice(BAD_REQUESTS))

    def oversized(self, rng):
        while not self.ends.wait(0.02):
            self._refused("oversized", *rng.choice(OVERSIZED_REQUESTS))

    def _send(self, client, request):
        try:
            client.sendall(request)
        except ConnectionError:  # it had to make room for others before
            if not self.is_flooded:
                raise

    def half_open(self, rng):
        held = collections.deque()
        while not self.ends.wait(0.01):
            client = self.server.connect()
            self._send(client, rng.choice([b"", b"G", b"GET /recommend?us", b"GET / HTTP/1.1\r\nHost: localhost\r\n",
                                           b"POST /recommend HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"]))
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
            self._send(client, f"GET /recommend?user={user} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
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

    def run(self, seconds, flood_rate):
        kinds = [self.good] * 4 + [self.good_once] * 2 + [self.bad, self.oversized, self.half_open, self.slow, self.reset,
                                   self.reload, self.watch_memory]
        threads = [threading.Thread(target=self._guarded, args=(kind, seed))
                   for seed, kind in enumerate(kinds)]
        # Before the threads: the processes begin as copies of this one.
        self.is_flooded = flood_rate is not None
        flooding = Flood(self.server, flood_rate) if self.is_flooded else None
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.server.process.poll() is None:
            time.sleep(0.1)
        self.ends.set()
        for thread in threads:
            thread.join()
        if flooding is not None:
            self.events["flood, opened"], self.events["flood, not opened"] = flooding.stop()

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
        for kind, latencies in (("good", self.latencies), ("good, once", self.once_latencies)):
            times = sorted(latencies) or [0.0]
            print(f"{kind}: {len(times) / seconds:.0f} a second, p50 {1e3 * times[len(times) // 2]:.2f} ms, "
                  f"p99 {1e3 * times[len(times) * 99 // 100]:.2f} ms, most {1e3 * times[-1]:.2f} ms")
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
    parser.add_argument("--flood", type=float, metavar="RATE",
                        help="connections a second to open beside all others; 0: as many as possible")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(options.program, options.models[0], pathlib.Path(folder))
        try:
            users = json.loads(server.get("/users?limit=40"))["users"]
            load = Load(server, options.models, users)
            load.run(options.seconds, options.flood)
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
