#!/usr/bin/python3
"""Measures bet beside what its users would pick instead, one pair after the other in one run:
a line each, `name ours_ms peer_ms ratio`. Debian's Python, because its packages are the peers."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "build/release/bet_bench"
EXPORT = ROOT / "build/release/bet_peer_export"
SERVE = ROOT / "build/release/bet_serve_bench"
DATA = ROOT / "../shared/data/gowalla"
REPEATS = 5


def ours(name, *options):
    """Best of several repetitions of one Google Benchmark, in milliseconds."""
    out = subprocess.run(
        [BENCH, f"--data={DATA}", f"--benchmark_filter=^{name}$", "--benchmark_format=json",
         f"--benchmark_repetitions={REPEATS}", *options],
        check=True, capture_output=True, text=True).stdout
    runs = json.loads(out)["benchmarks"]
    return min(run["real_time"] for run in runs if run["run_type"] == "iteration")


def peer(script, *arguments):
    out = subprocess.run(["/usr/bin/python3", ROOT / "bench/peers" / script, *arguments],
                         check=True, capture_output=True, text=True).stdout
    return float(out.split()[0])


def report(name, ours_ms, peer_ms):
    print(f"{name} {ours_ms:.2f} {peer_ms:.2f} {peer_ms / ours_ms:.2f}", flush=True)


def training(folder):
    """LightGCN on 75 % of Gowalla, with as many threads on both sides."""
    threads = str(os.cpu_count())
    for width in (128, 48, 6):
        out = pathlib.Path(folder) / str(width)
        subprocess.run([EXPORT, DATA, str(width), "50", out], check=True)
        report(f"lightgcn_step_{'' if width == 128 else 'w'}{width}",
               ours(f"lightgcn_step_fp32/{width}/manual_time"),
               peer("lightgcn.py", "step", out, str(width), threads))
        compare_losses(out, width)
    folder_128 = pathlib.Path(folder) / "128"
    for backbone in ("ngcf", "ncf"):
        report(f"{backbone}_step_128", ours(f"{backbone}_step/128/manual_time"),
               peer("dense.py", backbone, folder_128, threads))
    report("ncf_full_ranking", ours("ncf_full_ranking/128/real_time"),
           peer("dense.py", "ranking", folder_128, threads))
    report("full_ranking_top20", ours("full_ranking_top20/128/real_time"),
           peer("lightgcn.py", "ranking", folder_128, "128", threads))


def compare_losses(out, width):
    """Both sides, 50 steps from the same start on the same batches."""
    theirs = subprocess.run(
        ["/usr/bin/python3", ROOT / "bench/peers/lightgcn.py", "losses", out, str(width),
         str(os.cpu_count())],
        check=True, capture_output=True, text=True).stdout
    pairs = list(zip(map(float, (out / "losses.txt").read_text().split()),
                     map(float, theirs.split())))
    worst = max(abs(a - b) / abs(b) for a, b in pairs)
    print(f"# width {width}: loss of step 50 ours {pairs[-1][0]:.6f} peer {pairs[-1][1]:.6f}, "
          f"largest relative difference {worst:.1e}", flush=True)
    if len(pairs) != 50 or worst > 1e-3:
        sys.exit("bench-peers: the two sides do not train the same model")


def serving():
    """The top 20 for one user after the other, one thread on both sides; the program runs both."""
    out = subprocess.run([SERVE], check=True, capture_output=True, text=True).stdout
    sides = {}
    for line in out.splitlines():
        if not line.startswith("#"):
            name, *figures = line.split()
            sides[name] = [float(figure) for figure in figures]
    if "faiss_flat" not in sides:
        sys.exit("bench-peers: bet_serve_bench was built without faiss; build again (make build)")
    report("serve_top20", sides["materialised_int8"][0], sides["faiss_flat"][0])
    report("serve_top20_int4", sides["materialised_int4"][0], sides["faiss_sq4"][0])
    for name, (p50, p99, megabytes) in sides.items():
        print(f"# {name}: p50 {p50:.2f} ms, p99 {p99:.2f} ms, resident {megabytes:.1f} MB",
              flush=True)


def main():
    if not DATA.exists():
        sys.exit(f"bench-peers: no {DATA}: the comparison runs on Gowalla")
    report("load_lightgcn_text", ours("load_lightgcn_text"),
           peer("loading.py", "load_lightgcn_text", DATA, str(REPEATS)))
    with tempfile.TemporaryDirectory() as folder:
        csv = pathlib.Path(folder) / "gowalla.csv"
        with open(csv, "w") as out:
            out.write("user_id,item_id\n")
            for part in ("train.txt", "test.txt"):
                for line in open(DATA / part):
                    user, *items = line.split()
                    out.writelines(f"{user},{item}\n" for item in items)
        report("load_csv", ours("load_csv", f"--csv={csv}"),
               peer("loading.py", "load_csv", csv, str(REPEATS)))
        training(folder)
    serving()


main()
