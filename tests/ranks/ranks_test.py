#!/usr/bin/env python3
"""ranks_test.py BET CASE: several processes of the program make one run, and what goes wrong in it.

Without CASE: the names of the cases.
"""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

TIMEOUT = 3  # seconds until a rank is lost, in cases where one is
DATA = ["--users", "500", "--items", "300", "--interactions", "9000"]
FIT = ["--budget", "5%", "--loss", "bpr", "--max-steps", "160", "--iterations", "8", "--retrain-top", "1", "--threads", "1"]
# A table whose columns the ranks divide.
COLUMNS = {"--divide": "columns", "--method": "es", "--budget": "50%", "--dim": "32", "--loss": "bpr", "--max-steps": "120",
           "--measure-steps": "10", "--threads": "1"}
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def data_in(program, folder):
    data = folder / "made-up.csv"
    if not data.exists():
        subprocess.run([program, "data", "synth", data, *DATA], check=True, capture_output=True)
    return data


class Run:
    """The ranks of a run in a folder of its own."""

    def __init__(self, program, folder, size, arguments=None, port=None, host="127.0.0.1"):
        self.program, self.folder, self.size = program, folder, size
        self.arguments = arguments or ["fit", str(data_in(program, folder.parent)), *FIT, "--out", str(folder)]
        self.port, self.host = port or free_port(), host
        self.ranks = {}

    def start(self, rank, arguments=None, port=None):
        environment = os.environ | {"XDG_CACHE_HOME": str(self.folder.parent / "cache")}
        if self.size > 1:
            environment |= {"RANK": str(rank), "WORLD_SIZE": str(self.size), "MASTER_ADDR": self.host,
                            "MASTER_PORT": str(port or self.port)}
        self.ranks[rank] = subprocess.Popen([self.program, *(arguments or self.arguments)], env=environment, text=True,
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return self

    def impatient(self):
        self.arguments += ["--comm-timeout", str(TIMEOUT)]
        return self

    def start_all(self):
        for rank in range(self.size):
            self.start(rank)
        return self

    def wait(self, rank, seconds=120):
        """(exit code, stdout, stderr)"""
        try:
            out, err = self.ranks[rank].communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.ranks[rank].kill()
            raise AssertionError(f"rank {rank} is still there after {seconds} s: {self.ranks[rank].communicate()}")
        return self.ranks[rank].returncode, out, err

    def succeed(self):
        for rank in self.ranks:
            code, out, err = self.wait(rank)
            assert code == 0, (rank, code, err)
            if rank > 0:
                assert out == "", out
        return self

    def fail(self, rank, text, seconds=120):
        code, _, err = self.wait(rank, seconds)
        assert code not in (0, None) and text in err, (rank, code, err)

    def wait_for_trainings(self):
        """Until the search has measured some plans."""
        self.wait_for_log("training 5 ")

    def wait_for_log(self, text):
        end = time.time() + 60
        while text not in self.log():
            assert time.time() < end and self.ranks[0].poll() is None, self.ranks[0].communicate()
            time.sleep(0.01)

    def log(self):
        path = self.folder / "log.txt"
        return path.read_text() if path.exists() else ""

    def outcome(self):
        report = json.loads((self.folder / "report.json").read_text())
        return {"plans": [(trial["plan"], trial["steps"], trial["fold"]) for trial in report["trials"]],
                "chosen": report["chosen"]["plan"],
                "params": report["used"]["params"]}

    def report(self):
        return json.loads((self.folder / "report.json").read_text())

    def model(self):
        return (self.folder / "model.bet").read_bytes()


def alone(program, folder):
    return Run(program, folder / "alone", 1).start_all().succeed()


def pair(program, folder, name="pair"):
    return Run(program, folder / name, 2)


def loses_rank_1(program, folder, lose):
    """Rank 0 finishes by itself, to the same bytes as with rank 1, and says so. A rank that was only waiting when it got
    lost is not missed: then once more. So, too, if it was lost within a message, which ends rank 0 (docs/scale.md): both
    resume to the same bytes."""
    complete = pair(program, folder).start_all().succeed()
    for attempt in range(5):
        run = pair(program, folder, f"lost-{attempt}").impatient()
        lose(run)
        code, _, err = run.wait(0)
        if code != 0 and "does not answer" in err:
            run.ranks[1].kill()
            assert resumed(run, 2).start_all().succeed().model() == complete.model()
            continue
        assert code == 0, err
        assert run.model() == complete.model()
        if f"rank 1 was not heard of for {TIMEOUT} s; other ranks do what it was doing" in err:
            return run
        run.ranks[1].kill()
    raise AssertionError("rank 1 was never missed")


@case
def finds_the_plan_of_one_process(program, folder):
    one = alone(program, folder)
    for size in 2, 4:
        run = Run(program, folder / str(size), size).start_all().succeed()
        assert run.outcome() == one.outcome(), (run.outcome(), one.outcome())
        assert json.loads((run.folder / "report.json").read_text())["ranks"] == size


@case
def makes_the_same_bytes_again(program, folder):
    first, second = (pair(program, folder, name).start_all().succeed() for name in ("a", "b"))
    assert first.model() == second.model()


@case
def refuses_ranks_that_disagree(program, folder):
    run = pair(program, folder)
    run.start(0).start(1, [word.replace("5%", "10%") for word in run.arguments])
    for rank in 0, 1:
        run.fail(rank, "rank 1 has 'budget = 10%' where rank 0 has 'budget = 5%'")
    data = folder / "other.csv"
    data.write_text("user,item\n" + "".join(f"{user},{(user * 7 + item) % 40}\n" for user in range(60) for item in range(9)))
    run = pair(program, folder, "data")
    run.start(0).start(1, ["fit", str(data), *run.arguments[2:]])
    for rank in 0, 1:
        run.fail(rank, "the ranks of a run need the same data, options and version: rank 1 has")
    assert not run.folder.exists()


@case
def refuses_methods_without_trainings_to_divide(program, folder):
    run = pair(program, folder)
    run.arguments += ["--method", "es"]
    run.start_all()
    for rank in 0, 1:
        run.fail(rank, "--method es has no trainings that 2 ranks could divide")


@case
def refuses_standard_input(program, folder):
    run = pair(program, folder)
    run.arguments[1] = "-"
    run.start_all()
    for rank in 0, 1:
        run.fail(rank, "standard input cannot be read by 2 ranks")
    assert not run.folder.exists()


@case
def ends_with_what_a_rank_could_not_do(program, folder):
    run = pair(program, folder)
    run.start(0).start(1, ["fit", "/no/such/file", *run.arguments[2:]])
    run.fail(1, "/no/such/file")
    run.fail(0, "rank 1 gave up: /no/such/file")


@case
def outlives_a_killed_rank(program, folder):
    def kill(run):
        run.start_all().wait_for_trainings()
        run.ranks[1].kill()

    loses_rank_1(program, folder, kill)


@case
def outlives_a_stopped_rank(program, folder):
    def stop(run):
        run.start_all().wait_for_trainings()
        run.ranks[1].send_signal(signal.SIGSTOP)

    run = loses_rank_1(program, folder, stop)
    run.ranks[1].send_signal(signal.SIGCONT)
    run.fail(1, "rank 1: ")  # rank 0 is no longer there


@case
def takes_a_stopped_rank_back(program, folder):
    run = pair(program, folder).start_all()
    run.wait_for_trainings()
    run.ranks[1].send_signal(signal.SIGSTOP)
    time.sleep(1)
    run.ranks[1].send_signal(signal.SIGCONT)
    run.succeed()
    assert run.outcome() == alone(program, folder).outcome()


@case
def ends_with_a_killed_rank_0_and_is_resumed_by_fewer(program, folder):
    run = Run(program, folder / "killed", 3).impatient().start_all()
    run.wait_for_trainings()
    run.ranks[0].kill()
    start = time.time()
    for rank in 1, 2:
        run.fail(rank, f"rank {rank}: ")
    assert time.time() - start < 2 * TIMEOUT
    run.wait(0)
    resumed = Run(program, run.folder, 2, ["resume", str(run.folder), "--threads", "1"]).start_all().succeed()
    assert resumed.outcome() == alone(program, folder).outcome()
    # A run that is over.
    Run(program, run.folder, 2, ["resume", str(run.folder)]).start_all().succeed()


@case
def ends_with_a_stopped_rank_0(program, folder):
    run = pair(program, folder).impatient().start_all()
    run.wait_for_trainings()
    run.ranks[0].send_signal(signal.SIGSTOP)
    try:
        run.fail(1, "lost rank 0 at 127.0.0.1", 5 * TIMEOUT)
    finally:
        run.ranks[0].kill()
        run.wait(0)


class Proxy(threading.Thread):
    """Stands between a rank and rank 0, until it is cut."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.target, self.is_cut = port, False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.start()

    def run(self):
        while True:
            near, _ = self.listener.accept()
            far = None
            for _ in range(200):
                try:
                    far = socket.create_connection(("127.0.0.1", self.target))
                    break
                except OSError:
                    time.sleep(0.05)
            if far is None:
                near.close()
                continue
            for one, other in (near, far), (far, near):
                threading.Thread(target=self.forward, args=(one, other), daemon=True).start()

    def forward(self, one, other):
        while data := one.recv(65536):
            while self.is_cut:
                time.sleep(1)
            other.sendall(data)
        other.close()


@case
def outlives_a_rank_that_is_cut_off(program, folder):
    def cut(run):
        proxy = Proxy(run.port)
        run.start(0).start(1, port=proxy.port).wait_for_trainings()
        proxy.is_cut = True
        run.fail(1, f"lost rank 0 at 127.0.0.1:{proxy.port}", 5 * TIMEOUT)

    loses_rank_1(program, folder, cut)


@case
def waits_for_a_late_rank_and_names_one_that_never_comes(program, folder):
    run = pair(program, folder).start(0)
    time.sleep(1)
    run.start(1).succeed()
    run = Run(program, folder / "never", 3).impatient().start(0).start(2)
    run.fail(0, f"within {TIMEOUT} s: 1")
    run.fail(2, "these did not come")
    assert not run.folder.exists()


@case
def names_wrong_addresses_and_taken_ports(program, folder):
    run = pair(program, folder).impatient().start(1)
    run.fail(1, f"rank 1 cannot reach rank 0 at 127.0.0.1:{run.port} (MASTER_ADDR, MASTER_PORT)")
    run = Run(program, folder / "host", 2, host="no-such-host.invalid").impatient().start(1)
    run.fail(1, "rank 1 cannot reach rank 0 at no-such-host.invalid", 60)
    with socket.create_server(("", 0)) as taken:
        run = Run(program, folder / "port", 2, port=taken.getsockname()[1]).impatient().start(0)
        run.fail(0, f"rank 0 cannot listen at 127.0.0.1:{run.port} (MASTER_ADDR, MASTER_PORT)")


@case
def finishes_with_the_best_so_far_on_ctrl_c(program, folder):
    run = pair(program, folder).start_all()
    run.wait_for_trainings()
    for process in run.ranks.values():
        process.send_signal(signal.SIGINT)
    run.succeed()
    report = json.loads((run.folder / "report.json").read_text())
    assert report["interrupted"] and len(report["trials"]) < report["planned_trials"], report["planned_trials"]
    # And the search is continued, by both.
    Run(program, run.folder, 2, ["resume", str(run.folder), "--continue-search", "--threads", "1"]).start_all().succeed()
    assert run.outcome()["plans"] == alone(program, folder).outcome()["plans"]


def columns(program, folder, size, name=None, more=None):
    data = str(data_in(program, folder))
    out = folder / (name or f"columns-{size}")
    return Run(program, out, size, ["fit", data, *words(COLUMNS | (more or {})), "--out", str(out)])


def words(options):
    return [word for pair in options.items() for word in pair]


def resumed(run, size):
    return Run(run.program, run.folder, size, ["resume", str(run.folder), "--threads", "1"])


def assert_same_training(run, one):
    """As one process trains it, but for the order in which numbers are added."""
    ours, theirs = run.report(), one.report()
    for key in "budget", "steps":
        assert ours[key] == theirs[key], (ours[key], theirs[key])
    assert ours["used"]["params"] == theirs["used"]["params"]
    for curve in "train", "final":
        pairs = list(zip(ours["curves"][curve], theirs["curves"][curve], strict=True))
        assert pairs, curve
        for mine, other in pairs:
            assert mine["step"] == other["step"] and abs(mine["loss"] - other["loss"]) < 1e-4, (mine, other)
    for part in "validation", "test":
        for name, value in theirs[part].items():
            assert abs(ours[part][name] - value) < 0.01, (part, name, ours[part][name], value)


@case
def trains_a_table_by_columns(program, folder):
    for size, more in (4, {"--backbone": "mf", "--loss": "softmax", "--max-steps": "40"}), (2, {}):
        one = columns(program, folder, 1, f"alone-{size}", more).start_all().succeed()
        run = columns(program, folder, size, more=more).start_all().succeed()
        assert run.report()["ranks"] == size
        assert f"ranks       {size}, which divide the columns of the table" in run.log()
        assert_same_training(run, one)
    again = columns(program, folder, 2, "again").start_all().succeed()
    assert again.model() == run.model(), "the same command gives the same bytes"


@case
def continues_columns_with_fewer_ranks(program, folder):
    one = columns(program, folder, 1, "alone").start_all().succeed()
    run = columns(program, folder, 4).start_all()
    # Any of them may be asked.
    for size, step, asked in (4, 20, 1), (2, 60, 0):
        run.wait_for_log(f"step {step} ")
        run.ranks[asked].send_signal(signal.SIGTERM)
        for rank in run.ranks:
            run.fail(rank, f"bet resume {run.folder}" if rank == 0 else "stopped before the end")
        run = resumed(run, size // 2).start_all()
    assert_same_training(run.succeed(), one)
    assert run.log().count("step 20 ") == 1, "nothing was trained again"
    resumed(run, 2).start_all().succeed()  # a run that is over


@case
def ends_with_a_lost_rank_of_a_table_and_is_resumed(program, folder):
    one = columns(program, folder, 1, "alone").start_all().succeed()
    run = columns(program, folder, 2).impatient().start_all()
    for sign, lost, step, next_size in (signal.SIGKILL, 1, 20, 4), (signal.SIGSTOP, 1, 50, 2), (signal.SIGKILL, 0, 80, 2):
        run.wait_for_log(f"step {step} ")
        run.ranks[lost].send_signal(sign)
        start = time.time()
        for rank in run.ranks:
            if rank != lost:
                run.fail(rank, f"to continue: bet resume {run.folder}" if rank == 0 else f"rank {rank}")
        assert time.time() - start < 3 * TIMEOUT, (sign, time.time() - start)
        run.ranks[lost].kill()
        run.wait(lost)
        run = resumed(run, next_size).impatient().start_all()
    assert_same_training(run.succeed(), one)


@case
def says_why_another_rank_of_a_table_could_not_continue(program, folder):
    run = columns(program, folder, 2)
    run.start(0).start(1, ["fit", "/no/such/file", *run.arguments[2:]])
    run.fail(1, "/no/such/file")
    run.fail(0, "rank 1 gave up: /no/such/file")
    assert not run.folder.exists()


@case
def refuses_what_columns_cannot_divide(program, folder):
    for option, value, text in (("--method", "bet", "--method bet has more to train than one plan"),
                                ("--method", "sided", "--method sided has more"),
                                ("--backbone", "ngcf", "--backbone ngcf mixes columns"),
                                ("--loss", "auto", "--loss auto trains several models"),
                                ("--score", "cosine", "--score must be dot"),
                                ("--device", "cuda", "--device must be cpu"),
                                ("--precision", "int8", "--precision int8 has one scale"),
                                ("--budget", "5%B", "--precision auto trains several plans"),
                                ("--budget", "2MiB", "--serving auto trains several plans")):
        run = Run(program, folder / "none", 1, ["fit", "/no/such/file", *words(COLUMNS | {option: value})])
        run.start(0).fail(0, "--divide columns: " + text)


def main():
    if len(sys.argv) < 3:
        print("\n".join(CASES))
        return
    with tempfile.TemporaryDirectory() as folder:
        CASES[sys.argv[2]](sys.argv[1], pathlib.Path(folder))


if __name__ == "__main__":
    main()
