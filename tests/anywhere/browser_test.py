#!/usr/bin/env python3
"""browser_test.py PACKAGE MODEL: the npm package in headless Chromium, from a plain file server: in a page and in a
worker, and without the server once it is loaded. MODEL is one of bet_make_page_model.

Exits with 77 where there is no Chromium."""
import functools
import http.server
import os
import pathlib
import shutil
import sys
import tempfile
import threading

sys.dont_write_bytecode = True  # nothing is written beside the sources
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "page"))
from chromium import Chromium, find_chromium  # noqa: E402

# What both sides run: everything that a page needs of a model.
ASK = """
import { Model, BetError } from './index.js';
export async function ask() {
  const start = performance.now();
  const model = await Model.open('model.bet');
  const opened = performance.now() - start;
  let kind = '';
  try { model.recommend('nobody'); } catch (error) { kind = error instanceof BetError && error.kind; }
  const user = model.info.example_user;
  const answer = { user, list: model.recommend(user, { k: 20 }), similar: model.similar(model.items().ids[0]).length,
                   given: model.recommendFor(model.seen(user).slice(0, 2), { k: 3 }).length, kind, opened,
                   file_bytes: model.info.file_bytes, memory: model.memoryBytes };
  model.close();
  return answer;
}
"""
WORKER = "import { ask } from './ask.js'; ask().then(postMessage, (error) => postMessage(String(error)));"
PAGE = """<!doctype html><meta charset="utf-8"><title>test</title><link rel="icon" href="data:,">
<script type="module">
import { ask } from './ask.js';
import { Model } from './index.js';
window.ask = ask;
window.Model = Model;
window.inWorker = () => new Promise((done) => {
  new Worker('worker.js', { type: 'module' }).onmessage = (message) => done(message.data);
});
window.ready = true;
</script>"""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    asked = []

    def log_message(self, *_):
        self.asked.append(self.path)


def check(folder, size):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/"
    with Chromium(find_chromium()) as browser:
        browser.open(address + "page.html")
        browser.wait("window.ready")
        in_page = browser.value("ask()")
        in_worker = browser.value("inWorker()")
        for answer in (in_page, in_worker):
            assert isinstance(answer, dict), answer
            assert len(answer["list"]) == 20 and answer["similar"] == 10 and answer["given"] == 3, answer
            assert answer["kind"] == "not_found" and answer["file_bytes"] == size, answer
        assert in_page["list"] == in_worker["list"]
        # Nothing but these files was asked of the server, and SIMD was chosen.
        expected = {"/page.html", "/ask.js", "/index.js", "/worker.js", "/model.bet", "/bet-simd.wasm"}
        assert set(QuietHandler.asked) == expected, QuietHandler.asked
        # Offline: an open model needs nobody.
        browser.value("Model.open('model.bet').then((model) => { window.model = model; })")
        server.shutdown()
        server.server_close()
        browser.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0,
                     uploadThroughput=0)
        assert browser.value(f"model.recommend({in_page['user']!r}, {{k: 20}})") == in_page["list"]
        complaints = [params for method, params in browser.events if method == "Runtime.exceptionThrown"]
        assert not complaints, complaints
    print(f"browser: page and worker agree; opened in {in_page['opened']:.1f} ms, {in_page['memory']} bytes of memory")


def main():
    if find_chromium() is None:
        print("browser: not tested, there is no chromium (tools/packages-page.txt)")
        sys.exit(77)
    package, model = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="bet_wasm_") as folder:
        for name in ("index.js", "bet.wasm", "bet-simd.wasm"):
            shutil.copy(os.path.join(package, name), folder)
        shutil.copy(model, os.path.join(folder, "model.bet"))
        for name, text in (("page.html", PAGE), ("ask.js", ASK), ("worker.js", WORKER)):
            pathlib.Path(folder, name).write_text(text)
        check(folder, os.path.getsize(model))


if __name__ == "__main__":
    main()
