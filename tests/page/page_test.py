#!/usr/bin/env python3
"""page_test.py BET_SERVE MAKE_MODEL: the page of `bet-serve http` as Chromium sees it.

Exits with 77, which ctest takes for skipped, where there is no Chromium.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

sys.dont_write_bytecode = True  # nothing is written beside the sources
from chromium import FAINT, TIMEOUT_S, Chromium, find_chromium  # noqa: E402

PHONE = (360, 740)
DESKTOP = (1280, 900)
MARKUP = '<img src=x onerror="window.hacked = true">'
ODD = "a&k=1#?\"'+%41 \\zoë 日本"

# [item, score] of a list, as it is shown.
ROWS = """[...document.querySelectorAll('#%s ol.scored > li')].map((row) =>
  [row.querySelector('a').textContent, Number(row.querySelector('data').value)])"""


class Server:
    """`bet-serve http` on a free port; `with` stops it."""

    def __init__(self, model):
        self._process = subprocess.Popen([BET_SERVE, "http", model, "--port", "0"],
                                         stderr=subprocess.PIPE, text=True)
        first = self._process.stderr.readline()
        self.address = re.search(r"http://\S+", first)[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self._process.terminate()
        self._process.communicate(timeout=TIMEOUT_S)


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext_(tempfile.TemporaryDirectory(prefix="bet_page_"))
        cls.model = os.path.join(folder, "model.bet")
        subprocess.run([MAKE_MODEL, cls.model], check=True)
        cls.server = cls.enterClassContext_(Server(cls.model))
        cls.browser = cls.enterClassContext_(Chromium(find_chromium()))

    @classmethod
    def enterClassContext_(cls, context):  # unittest has it from Python 3.11
        value = context.__enter__()
        cls.addClassCleanup(context.__exit__, None, None, None)
        return value

    def setUp(self):
        self.browser.resize(*DESKTOP)
        self.browser.events.clear()

    def tearDown(self):
        """Whatever a test did: no complaint of the page, and nothing asked of anybody else."""
        for method, params in self.browser.events:
            if method == "Network.requestWillBeSent":
                url = params["request"]["url"]
                self.assertTrue(url.startswith((self.server.address + "/", "data:", "about:")), url)
            if method == "Log.entryAdded":  # Chromium notes each answer that is an error
                self.assertEqual(params["entry"]["source"], "network", params)
            self.assertNotIn(method, ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"),
                             params)
        self.assertFalse(self.browser.value("'hacked' in window"))

    def open(self, state=None):
        hash_ = "" if state is None else "#" + urllib.parse.urlencode(state, doseq=True)
        self.browser.open(f"{self.server.address}/{hash_}")
        self.settle()

    def settle(self):
        """Until what the address says has been asked for and answered."""
        self.browser.wait("(({user, given, k, with_seen, item}) =>"
                          "document.querySelector('#bytes') &&"
                          "shown.asked === JSON.stringify([user, given, k, with_seen]) &&"
                          "shown.similar === JSON.stringify([item, k]) &&"
                          "!document.querySelector('[aria-busy]'))(read_state())")

    def text(self, selector):
        return self.browser.value(f"document.querySelector({json.dumps(selector)}).textContent")

    def texts(self, selector):
        return self.browser.value(f"[...document.querySelectorAll({json.dumps(selector)})]"
                                  ".map((e) => e.textContent)")

    def rows(self, panel):
        return self.browser.value(ROWS % panel)

    def command(self, *arguments):
        """What bet-serve prints as JSON."""
        done = subprocess.run([BET_SERVE, *arguments, "--json"], check=True, capture_output=True)
        return json.loads(done.stdout)

    def wanted(self, *arguments):
        """[item, score] as `bet-serve recommend` has it."""
        items = self.command("recommend", self.model, *arguments)["items"]
        return [[entry["item"], entry["score"]] for entry in items]

    def seen(self, user):
        every = ["--user", user, "-k", "1000"]
        left = {item for item, _ in self.wanted(*every)}
        return {item for item, _ in self.wanted(*every, "--include-seen")} - left

    def enter(self, text):
        """Into the field of the user, by keyboard; sends it off."""
        self.browser.value("document.getElementById('user').select()")
        self.browser.type(text)
        self.browser.press("Enter", 13, "\r")
        self.browser.wait(f"read_state().user === {json.dumps(text)}")
        self.settle()

    def test_opens_with_the_example_user(self):
        self.open()
        user = self.command("inspect", self.model)["example_user"]
        self.assertEqual(self.rows("best"), self.wanted("--user", user))
        self.assertEqual(len(self.rows("best")), 10)

    def test_shows_what_the_command_prints_for_a_typed_user(self):
        self.open()
        self.browser.click("document.getElementById('user')")
        self.enter("u919")
        self.assertEqual(self.rows("best"), self.wanted("--user", "u919"))
        self.assertEqual(self.text("#best_title"), "Recommended for user u919")
        self.assertIn("10 items for user u919", self.text("[role=status]"))
        self.browser.value("document.querySelector('#seen button')?.click()")
        self.assertEqual(set(self.texts("#seen ol a")), self.seen("u919"))
        self.assertGreater(len(self.seen("u919")), 60)

    def test_suggests_users_while_one_types(self):
        self.open()
        self.browser.value("document.getElementById('user').select()")
        self.browser.type("u9")
        options = self.browser.wait(
            "document.getElementById('hint').textContent.endsWith('begins so') &&"
            "[...document.querySelectorAll('#users option')].map((option) => option.value)")
        self.assertIn("u919", options)
        self.assertTrue(all(user.startswith("u9") for user in options), options)

    def test_some_user_is_a_user(self):
        self.open({"user": "u919"})
        self.browser.click("document.getElementById('some_user')")
        self.browser.wait("history.length > 1 && location.hash !== '#user=u919'")
        self.settle()
        user = self.browser.value("read_state().user")
        self.assertEqual(self.rows("best"), self.wanted("--user", user))

    def test_seen_items_can_be_kept(self):
        self.open({"user": ODD, "k": "300", "with_seen": "1"})
        self.assertEqual(self.rows("best"), self.wanted("--user", ODD, "-k", "300", "--include-seen"))
        self.assertEqual(len(self.texts("#best .tag")), 2)
        self.assertTrue(self.browser.value("document.getElementById('with_seen').checked"))

    def test_bars_of_negative_scores_go_to_the_left(self):
        self.open({"user": "u919", "k": "300"})
        zeros = self.browser.value(
            "[...document.querySelectorAll('#best li')].map((row) => {"
            "const bar = row.querySelector('.bar > span').style, left = parseFloat(bar.left);"
            "return Number(row.querySelector('data').value) < 0 ? left + parseFloat(bar.width)"
            ": left; })")
        self.assertLess(self.rows("best")[-1][1], 0)
        self.assertGreater(zeros[0], 0)
        self.assertLess(max(zeros) - min(zeros), 0.01)

    def test_similar_items_and_the_way_back(self):
        self.open({"user": "u919", "k": "5"})
        first = self.rows("best")[0][0]
        self.browser.click("document.querySelector('#best a.item')")
        self.browser.wait("read_state().item !== null")
        self.settle()
        self.assertEqual(self.rows("similar"), self.wanted("--similar-to", first, "-k", "5"))
        self.assertEqual(self.browser.value("document.activeElement.id"), "similar_title")
        self.enter("u838")
        self.assertEqual(self.rows("similar"), [])
        self.browser.value("history.back()")
        self.browser.wait("read_state().item !== null")
        self.settle()
        self.assertEqual(self.rows("best"), self.wanted("--user", "u919", "-k", "5"))
        self.assertEqual(self.rows("similar"), self.wanted("--similar-to", first, "-k", "5"))
        self.assertEqual(self.browser.value("document.getElementById('user').value"), "u919")

    def test_somebody_new(self):
        self.open({"user": "u919"})
        self.browser.click("document.querySelector('[value=new]')")
        self.browser.click("document.getElementById('given')")
        given = ["item 0", MARKUP, ODD]
        self.browser.type("\n".join(given) + "\n")
        self.browser.click("document.querySelector('[type=submit]')")
        self.browser.wait("read_state().given.length === 3")
        self.settle()
        self.assertEqual(self.rows("best"), self.wanted("--items", *given))
        self.assertEqual(self.texts("#seen ol a"), given)

    def test_unknown_items_of_somebody_new_are_named(self):
        self.open({"given": ["item 0", "what"]})
        self.assertEqual(self.rows("best"), self.wanted("--items", "item 0"))
        self.assertIn("unknown and left out: what", self.text("[role=status]"))

    def test_seen_items_can_be_tried_as_somebody_new(self):
        self.open({"user": MARKUP})
        given = self.texts("#seen ol a")
        self.assertEqual(set(given), self.seen(MARKUP))
        self.browser.click("document.getElementById('try_as_new')")
        self.browser.wait("read_state().user === null")
        self.settle()
        self.assertEqual(self.rows("best"), self.wanted("--items", *given))

    def test_every_byte_is_in_the_table(self):
        self.open()
        model = self.command("inspect", self.model)
        total = os.path.getsize(self.model)
        cells = self.browser.value("[...document.querySelectorAll('#bytes tbody tr')].map((row) =>"
                                   "[row.querySelector('.name').textContent,"
                                   "Number(row.cells[1].textContent.replaceAll(',', ''))])")
        self.assertEqual(cells, [[part["name"], part["bytes"]] for part in model["sections"]])
        self.assertEqual(sum(count for _, count in cells), total)
        self.assertEqual(self.texts("#bytes tfoot td"), [f"{total:,}", "100.0\u00a0%"])

    def test_sizes_budget_and_quality(self):
        self.open()
        model = self.command("inspect", self.model)
        bars = self.texts("#model rect")
        self.assertEqual(len(bars), len(model["user_sizes"]) + len(model["item_sizes"]))
        for size, count in model["user_sizes"].items():
            self.assertIn(f"size {size}: {count} user" + ("" if count == 1 else "s"), bars)
        used = model["params"]
        share = f"{100 * used / 2500:.1f}\u00a0%"
        self.assertIn(f"{used:,} of 2,500 parameters of the trained table ({share})",
                      self.texts("#model dd"))
        self.assertIn(f"{used:,} parameters", self.texts("#model dd"))
        self.assertIn(f"the trained table, {model['table_bytes']:,} bytes", self.texts("#model dd"))
        width = self.browser.value("document.querySelector('#model dd .bar > span').style.width")
        self.assertAlmostEqual(float(width.rstrip("%")), 100 * used / 2500, 2)
        self.assertIn("lightgcn", self.texts("#model dd"))
        quality = self.texts("#model h3 + table td")
        self.assertEqual(quality, ["0.0625", "0.1250", "–", "–", "0.2500", "0.3750"])
        self.assertEqual(self.texts("#model h3 + table thead th"),
                         ["metric", "validation", "test, this file", "test, fp32"])

    def test_ids_are_text_whatever_is_in_them(self):
        for user in (MARKUP, ODD):
            self.open({"user": user, "k": "300"})
            self.assertEqual(self.rows("best"), self.wanted("--user", user, "-k", "300"))
            self.open({"user": user, "item": user})
            self.assertEqual(self.rows("similar"), self.wanted("--similar-to", user))
            self.assertEqual(self.text("#similar_title"), f"Similar to {user}")
        self.assertEqual(self.browser.value("document.querySelectorAll('img').length"), 0)

    def test_errors_are_the_servers_words(self):
        for state, panel, words in (
                ({"user": "nobody"}, "#best", "unknown user 'nobody'"),
                ({"user": "nobody"}, "#seen", "unknown user 'nobody'"),
                ({"user": "u919", "k": "0"}, "#best", "k is 0"),
                ({"given": ["no item"]}, "#best", "unknown item 'no item'"),
                ({"user": "u919", "item": "no item"}, "#similar", "unknown item 'no item'")):
            self.open(state)
            self.assertIn(words, self.text(panel + " .error"))
            self.assertEqual(self.texts(panel + " ol li"), [])
        self.enter("u919")
        self.assertEqual("".join(self.texts(".error")), "")

    def test_a_busy_server_is_said_to_be_busy(self):
        self.open({"user": "u919"})
        self.hold("*/recommend?*")
        self.browser.value("void document.querySelector('[type=submit]').click()")
        paused = self.wait_for_event("Fetch.requestPaused")
        self.browser.call("Fetch.fulfillRequest", requestId=paused["requestId"], responseCode=503,
                          body="eyJlcnJvciI6InRoZSBxdWV1ZSBpcyBmdWxsIn0=")  # "the queue is full"
        self.settle()
        self.assertEqual(self.text("#best .error"),
                         "The server is busy: the queue is full. Try again in a moment.")

    def test_a_late_answer_is_dropped(self):
        self.open({"user": "u838"})
        self.hold("*/recommend?user=u919*")
        self.browser.value("void go({user: 'u919'})")
        late = self.wait_for_event("Fetch.requestPaused")
        self.browser.value("void go({user: 'u838'})")
        self.settle()
        self.browser.call("Fetch.continueRequest", requestId=late["requestId"])
        self.wait_for_event("Network.loadingFinished", requestId=late["networkId"])
        self.browser.value("fetch('/healthz').then((answer) => answer.text())")  # comes behind it
        self.assertEqual(self.rows("best"), self.wanted("--user", "u838"))
        self.assertIn("user u838", self.text("#status"))

    def hold(self, pattern):
        """Requests of that pattern wait until the test lets them go."""
        self.browser.call("Fetch.enable", patterns=[{"urlPattern": pattern}])
        self.addCleanup(self.browser.call, "Fetch.disable")

    def wait_for_event(self, wanted, **values):
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            self.browser.value("0")
            for method, params in self.browser.events:
                if method == wanted and values.items() <= params.items():
                    return params
        raise TimeoutError(f"{wanted} {values}")

    def test_a_stopped_server_is_said_not_to_answer(self):
        kept = self.server
        with Server(self.model) as other:
            self.server = other
            self.open({"user": "u919"})
            other.stop()
            self.browser.click("document.querySelector('[type=submit]')")
            self.browser.wait("document.querySelector('#best .error').textContent !== ''")
            self.settle()
            self.assertIn("does not answer", self.text("#best .error"))
        self.tearDown()
        self.browser.events.clear()
        self.server = kept

    def test_fits_a_phone_and_a_desktop_in_light_and_dark(self):
        for size in (PHONE, DESKTOP):
            for dark in (False, True):
                self.browser.resize(*size, dark)
                self.open({"user": "w" * 150, "k": "300", "item": "w" * 150})
                self.browser.value("void (document.querySelector('details').open = true)")
                with self.subTest(size=size, dark=dark):
                    width = self.browser.value("document.documentElement.scrollWidth")
                    self.assertEqual(width, size[0])
                    outside = self.browser.value(
                        "[...document.querySelectorAll('main *')].filter((e) =>"
                        "e.getBoundingClientRect().right > innerWidth).map((e) => e.outerHTML)")
                    self.assertEqual(outside, [])
                    self.assertEqual(self.browser.value(FAINT), [])
                    bright = self.browser.value(
                        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g)[0] > 127")
                    self.assertEqual(bright, not dark)

    def test_works_by_keyboard_and_has_names_for_everything(self):
        self.open({"user": "u838"})
        reached = []
        for _ in range(6):
            self.browser.press("Tab", 9)
            reached.append(self.browser.value(
                "[document.activeElement.id || document.activeElement.type ,"
                "getComputedStyle(document.activeElement).outlineStyle]"))
        self.assertEqual(reached, [[name, "solid"] for name in
                                   ("radio", "user", "some_user", "k", "with_seen", "submit")])
        nameless = self.browser.value(
            "[...document.querySelectorAll('input, textarea')].filter((e) => e.labels.length === 0)"
            ".length")
        self.assertEqual(nameless, 0)


if __name__ == "__main__":
    BET_SERVE, MAKE_MODEL = sys.argv[1:]
    if find_chromium() is None:
        print("page: skipped: there is no chromium here (tools/packages-page.txt)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
