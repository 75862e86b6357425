#!/usr/bin/python3
"""Measures bet beside what its users would pick instead, one pair after the other in one run:
a line each, `name ours_ms peer_ms ratio`. Debian's Python, because its packages are the peers."""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "build/release/bet_bench"
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


main()
