#!/usr/bin/env python3
"""bench/browser_bench.py PACKAGE NATIVE MODEL..: opening model files, and the top 20 of one user after the other, in headless Chromium by
the npm package in the folder PACKAGE, beside the program NATIVE (bet_model_bench), three times in turn. Milliseconds, medians of
the clock's time in the browser and of the processor's natively, so that the machine should be quiet; and the memory of the page.
"""
import functools
import http.server
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True  # nothing is written beside the sources
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/page"))
from chromium import Chromium, find_chromium  # noqa: E402

# As bench/model_bench.mjs does.
PAGE = """<!doctype html><meta charset="utf-8"><title>bench</title><link rel="icon" href="data:,">
<script type="module">
import { Model } from './index.js';
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
window.measure = async () => {
  let start = performance.now();
  (await Model.open('model.bet')).close();
  const first = performance.now() - start;  // with both downloads, and the module compiled
  const file = new Uint8Array(await (await fetch('model.bet')).arrayBuffer());
  const opened = [];
  for (let i = 0; i < 21; ++i) {
    start = performance.now();
    (await Model.open(file)).close();
    opened.push(performance.now() - start);
  }
  const model = await Model.open(file);
  const users = model.users({ limit: model.info.users }).ids;
  const asked = [];
  for (let i = 0; i < 200; ++i) {
    const user = users[i * Math.floor(users.length / 200)];
    start = performance.now();
    if (model.recommend(user, { k: 20 }).length === 0) throw new Error(`no items for ${user}`);
    asked.push(performance.now() - start);
  }
  window.kept = model;
  return { first, opened: median(opened), asked: median(asked), memory: model.memoryBytes };
};
window.ready = true;
</script>"""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def in_browser(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with Chromium(find_chromium()) as browser:
        browser.open(f"http://127.0.0.1:{server.server_address[1]}/page.html")
        browser.wait("window.ready")
        found = browser.value("measure()")
        browser.call("HeapProfiler.collectGarbage")
        # The heap of JavaScript; the module's memory is counted by the model itself.
        found["heap"] = browser.call("Runtime.getHeapUsage")["usedSize"]
    server.shutdown()
    server.server_close()
    return found


def main():
    package, native, *models = sys.argv[1:]
    if find_chromium() is None:
        sys.exit("there is no chromium (tools/packages-page.txt)")
    for model in models:
        rounds = []
        with tempfile.TemporaryDirectory(prefix="bet_bench_") as folder:
            for name in ("index.js", "bet.wasm", "bet-simd.wasm"):
                shutil.copy(pathlib.Path(package) / name, folder)
            shutil.copy(model, pathlib.Path(folder) / "model.bet")
            pathlib.Path(folder, "page.html").write_text(PAGE)
            for _ in range(3):
                here = [float(word) for word in subprocess.check_output([native, model], text=True).split()[:2]]
                rounds.append((here, in_browser(folder)))
        middle = statistics.median
        print(f"{model}: {pathlib.Path(model).stat().st_size} bytes")
        for index, key in enumerate(("opened", "asked")):
            ours, theirs = middle(r[0][index] for r in rounds), middle(r[1][key] for r in rounds)
            ratios = ", ".join(f"{r[1][key] / r[0][index]:.2f}" for r in rounds)
            print(f"  {key}: native {ours:.2f} ms, Chromium {theirs:.2f} ms; ratios {ratios}")
        print(f"  first opening, with the module: {middle(r[1]['first'] for r in rounds):.1f} ms; "
              f"memory {rounds[0][1]['memory']} bytes, heap of JavaScript {rounds[0][1]['heap']} bytes")


if __name__ == "__main__":
    main()
