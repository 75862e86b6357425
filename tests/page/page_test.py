#!/usr/bin/env python3
"""page_test.py BET_SERVE MAKE_MODEL RUNTIME: the page of `bet-serve http`, and of `bet-serve page`,
as Chromium sees it. RUNTIME is the folder of the npm package bet-runtime, unpacked; where there is
none, the page without a server is not tested.

Exits with 77, which ctest takes for skipped, where there is no Chromium.
"""

import csv
import functools
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True  # nothing is written beside the sources
from chromium import FAINT, TIMEOUT_S, Chromium, find_chromium  # noqa: E402

PHONE = (390, 844)
SMALL_PHONE = (360, 740)
DESKTOP = (1280, 900)
MARKUP = '<img src=x onerror="window.hacked = true">'
ODD = "a&k=1#?\"'+%41 \\zoë 日本"

# [item, score] of a list, as it is shown.
ROWS = """[...document.querySelectorAll('#%s ol.scored > li')].map((row) =>
  [row.querySelector('a').dataset.item, Number(row.querySelector('data').value)])"""


class Server:
    """`bet-serve http` on a free port; `with` stops it."""

    def __init__(self, model, *options):
        self._process = subprocess.Popen([BET_SERVE, "http", model, "--port", "0", *options],
                                         stderr=subprocess.PIPE, text=True)
        first = self._process.stderr.readline()
        self.address = re.search(r"http://\S+", first)[0] + "/"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self._process.terminate()
        self._process.communicate(timeout=TIMEOUT_S)


class FileServer:
    """Any host of plain files."""

    def __init__(self, folder):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass

        handler = functools.partial(Handler, directory=folder)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def bet_serve(*arguments):
    """What bet-serve prints as JSON."""
    done = subprocess.run([BET_SERVE, *arguments, "--json"], check=True, capture_output=True)
    return json.loads(done.stdout)


def write_titles(model, path):
    """A title for each item but one."""
    ids = [entry["item"] for entry in
           bet_serve("recommend", model, "--user", "u919", "-k", "1000", "--include-seen")["items"]]
    titles = {item: f"Film {number} of {item[-1]}" for number, item in enumerate(sorted(ids))}
    titles.update({"item 0": "Amélie & the <b>River</b>", MARKUP: MARKUP, "w" * 150: "W" * 300})
    del titles[ODD]
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = [["id", "title"], *titles.items(), ["nothing", "Film of nobody"]]
        csv.writer(file).writerows(rows)
    return titles


def setUpModule():
    global BROWSER, FOLDER, MODEL, TITLES_FILE, TITLES
    FOLDER = for_all(tempfile.TemporaryDirectory(prefix="bet_page_"))
    MODEL = os.path.join(FOLDER, "model.bet")
    subprocess.run([MAKE_MODEL, MODEL], check=True)
    TITLES_FILE = os.path.join(FOLDER, "titles.csv")
    TITLES = write_titles(MODEL, TITLES_FILE)
    BROWSER = for_all(Chromium(find_chromium()))


def for_all(context):
    value = context.__enter__()
    unittest.addModuleCleanup(context.__exit__, None, None, None)
    return value


class Page:
    """What the tests of every page need."""
    tolerance = 0  # of scores
    titles = {}

    @classmethod
    def setUpClass(cls):
        cls.browser, cls.model = BROWSER, MODEL
        cls.address = cls.start()

    @classmethod
    def for_class(cls, context):
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
                self.assertTrue(url.startswith((self.address, "data:", "about:", "blob:")), url)
            if method == "Log.entryAdded":  # Chromium notes each answer that is an error
                self.assertEqual(params["entry"]["source"], "network", params)
            self.assertNotIn(method, ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"),
                             params)
        self.assertFalse(self.browser.value("'hacked' in window"))

    def open(self, state=None):
        hash_ = "" if state is None else "#" + urllib.parse.urlencode(state, doseq=True)
        self.browser.open(f"{self.address}{self.document}{hash_}")
        self.settle()

    document = ""

    def settle(self):
        """Until what the address says has been asked for and answered."""
        self.browser.wait("((state) => document.querySelector('#bytes') &&"
                          "shown.asked === JSON.stringify([state.user, state.given, state.k,"
                          "state.with_seen]) &&"
                          "shown.similar === JSON.stringify([state.item, state.k, is_start(state)])"
                          "&& !document.querySelector('[aria-busy]'))(read_state())")

    def text(self, selector):
        return self.browser.value(f"document.querySelector({json.dumps(selector)}).textContent")

    def texts(self, selector):
        return self.browser.value(f"[...document.querySelectorAll({json.dumps(selector)})]"
                                  ".map((e) => e.textContent)")

    def rows(self, panel):
        return self.browser.value(ROWS % panel)

    def wanted(self, *arguments):
        """[item, score] as `bet-serve recommend` has it."""
        items = bet_serve("recommend", self.model, *arguments)["items"]
        return [[entry["item"], entry["score"]] for entry in items]

    def seen(self, user):
        every = ["--user", user, "-k", "1000"]
        left = {item for item, _ in self.wanted(*every)}
        return {item for item, _ in self.wanted(*every, "--include-seen")} - left

    def check_rows(self, panel, *arguments):
        """That a panel has what `bet-serve recommend` prints."""
        rows, wanted = self.rows(panel), self.wanted(*arguments)
        self.assertEqual([item for item, _ in rows], [item for item, _ in wanted])
        for (item, score), (_, other) in zip(rows, wanted):
            self.assertLessEqual(abs(score - other), self.tolerance, item)

    def items(self, selector):
        """The ids behind links."""
        return self.browser.value(f"[...document.querySelectorAll({json.dumps(selector)})]"
                                  ".map((e) => e.dataset.item)")

    def pick(self, field, text, option=0):
        """Types into a field with suggestions, and clicks on one of them."""
        self.browser.value(f"document.getElementById('{field}').focus()")
        self.browser.type(text)
        self.browser.click(f"document.querySelectorAll('#{field} + ul > li')[{option}]")

    def enter(self, text):
        """Into the field of the user, by keyboard; sends it off."""
        self.browser.value("document.getElementById('user').select()")
        self.browser.type(text)
        self.browser.press("Enter", 13, "\r")
        self.browser.wait(f"read_state().user === {json.dumps(text)}")
        self.settle()


class Explores(Page):
    """What every page does, with a server and without, with titles and without."""

    def test_opens_with_something_in_every_panel_and_without_a_user(self):
        self.open()
        self.assertEqual(self.browser.value("location.hash"), "")
        self.assertEqual(self.text("#best_title"), "Popular items")
        self.check_rows("best", "--user", "no such user", "--missing", "popular")
        most = self.rows("best")[0]
        self.assertEqual(self.text("#best data"), f"{most[1]} users")
        self.check_rows("similar", "--similar-to", most[0])
        title = self.titles.get(most[0], most[0])
        self.assertEqual(self.text("#similar_title"), f"Similar to {title}")
        self.assertEqual(len(self.texts("#seen ol a")), 24)
        self.assertEqual(self.text("#seen .note"), "The first of 40 users in the file.")
        self.assertEqual("".join(self.texts(".error")), "")
        first = self.text("#seen ol a")
        self.browser.click("document.querySelector('#seen ol a')")
        self.browser.wait("read_state().user !== null")
        self.settle()
        self.check_rows("best", "--user", first)
        self.browser.click("document.getElementById('home')")
        self.browser.wait("is_start(read_state())")
        self.settle()
        self.check_rows("best", "--user", "no such user", "--missing", "popular")

    def test_the_enter_key_takes_the_item_that_is_meant(self):
        self.open()
        self.browser.value("document.getElementById('find').focus()")
        self.browser.type("item 96")
        self.browser.press("Enter", 13, "\r")
        self.browser.wait("read_state().item === 'item 96'")
        self.settle()
        self.check_rows("similar", "--similar-to", "item 96")
        self.assertEqual(self.text("#best_title"), "Popular items")

    def test_shows_what_the_command_prints_for_a_typed_user(self):
        self.open()
        self.browser.click("document.getElementById('user')")
        self.enter("u919")
        self.check_rows("best", "--user", "u919")
        self.assertEqual(self.text("#best_title"), "Recommended for user u919")
        self.assertIn("10 items for user u919", self.text("[role=status]"))
        self.browser.value("document.querySelector('#seen button')?.click()")
        self.assertEqual(set(self.items("#seen ol a")), self.seen("u919"))
        self.assertGreater(len(self.seen("u919")), 60)

    def test_suggests_users_while_one_types(self):
        self.open()
        self.browser.value("document.getElementById('user').focus()")
        self.browser.type("u9")
        self.browser.wait("document.getElementById('hint').textContent.endsWith('begins so') &&"
                          "!document.getElementById('users').hidden")
        options = self.texts("#users li")
        self.assertIn("u919", options)
        self.assertTrue(all(user.startswith("u9") for user in options), options)
        for _ in range(options.index("u919") + 1):
            self.browser.press("ArrowDown", 40)
        self.assertEqual(self.texts("#users [aria-selected=true]"), ["u919"])
        self.browser.press("Enter", 13, "\r")
        self.browser.wait("read_state().user === 'u919'")
        self.settle()
        self.check_rows("best", "--user", "u919")
        self.assertTrue(self.browser.value("document.getElementById('users').hidden"))

    def test_some_user_is_a_user(self):
        self.open({"user": "u919"})
        self.browser.click("document.getElementById('some_user')")
        self.browser.wait("history.length > 1 && location.hash !== '#user=u919'")
        self.settle()
        user = self.browser.value("read_state().user")
        self.check_rows("best", "--user", user)

    def test_seen_items_can_be_kept(self):
        self.open({"user": ODD, "k": "300", "with_seen": "1"})
        self.check_rows("best", "--user", ODD, "-k", "300", "--include-seen")
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
        self.check_rows("similar", "--similar-to", first, "-k", "5")
        self.assertEqual(self.browser.value("document.activeElement.id"), "similar_title")
        self.enter("u838")
        self.assertEqual(self.rows("similar"), [])
        self.assertIn("Choose an item", self.text("#similar .note"))
        self.browser.value("history.back()")
        self.browser.wait("read_state().item !== null")
        self.settle()
        self.check_rows("best", "--user", "u919", "-k", "5")
        self.check_rows("similar", "--similar-to", first, "-k", "5")
        self.assertEqual(self.browser.value("document.getElementById('user').value"), "u919")

    def test_somebody_new(self):
        self.open({"user": "u919"})
        self.browser.click("document.querySelector('[value=new]')")
        given = ["item 0", MARKUP, ODD]
        for count, item in enumerate(given, 1):
            self.pick("given", item)
            self.browser.wait(f"read_state().given.length === {count}")
            self.settle()
        self.check_rows("best", "--items", *given)
        self.assertEqual(self.items("#seen ol a"), given)
        shown = [self.titles.get(item, item) + "×" for item in given]
        self.assertEqual(self.texts("#given_items li"), shown)
        self.browser.click("document.querySelectorAll('#given_items button')[1]")
        self.browser.wait("read_state().given.length === 2")
        self.settle()
        self.check_rows("best", "--items", given[0], given[2])

    def test_ids_of_somebody_new_can_be_pasted(self):
        self.open()
        self.browser.click("document.querySelector('[value=new]')")
        self.browser.value(
            "(() => { const data = new DataTransfer();"
            "data.setData('text', 'item 0\\r\\nitem 96\\n');"
            "document.getElementById('given').dispatchEvent("
            "new ClipboardEvent('paste', {clipboardData: data})); })()")
        self.browser.wait("read_state().given.length === 2")
        self.settle()
        self.check_rows("best", "--items", "item 0", "item 96")

    def test_unknown_items_of_somebody_new_are_named(self):
        self.open({"given": ["item 0", "what"]})
        self.check_rows("best", "--items", "item 0")
        self.assertIn("unknown and left out: what", self.text("[role=status]"))

    def test_seen_items_can_be_tried_as_somebody_new(self):
        self.open({"user": MARKUP})
        given = self.items("#seen ol a")
        self.assertEqual(set(given), self.seen(MARKUP))
        self.browser.click("document.getElementById('try_as_new')")
        self.browser.wait("read_state().user === null")
        self.settle()
        self.check_rows("best", "--items", *given)

    def test_every_byte_is_in_the_table(self):
        self.open()
        model = bet_serve("inspect", self.model)
        total = os.path.getsize(self.model)
        cells = self.browser.value("[...document.querySelectorAll('#bytes tbody tr')].map((row) =>"
                                   "[row.querySelector('.name').textContent,"
                                   "Number(row.cells[1].textContent.replaceAll(',', ''))])")
        self.assertEqual(cells, [[part["name"], part["bytes"]] for part in model["sections"]])
        self.assertEqual(sum(count for _, count in cells), total)
        self.assertEqual(self.texts("#bytes tfoot td"), [f"{total:,}", "100.0\u00a0%"])

    def test_sizes_budget_and_quality(self):
        self.open()
        model = bet_serve("inspect", self.model)
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
        self.assertEqual(quality, ["0.0625", "0.0938", "0.1250", "–", "–", "–", "0.2500", "0.3750"])
        self.assertEqual(self.texts("#model h3 + table thead th"),
                         ["metric", "validation", "validation, full size", "test, this file",
                          "test, fp32"])
        full = (model["users"] + model["items"]) * model["max_dim"]
        self.assertIn(f"{full:,} parameters, {4 * full:,} bytes in fp32; this file is "
                      f"{4 * full / model['file_bytes']:.1f} times smaller",
                      self.texts("#model dd"))

    def test_ids_are_text_whatever_is_in_them(self):
        for user in (MARKUP, ODD):
            self.open({"user": user, "k": "300"})
            self.check_rows("best", "--user", user, "-k", "300")
            self.open({"user": user, "item": user})
            self.check_rows("similar", "--similar-to", user)
            title = self.titles.get(user, user)
            self.assertEqual(self.text("#similar_title"), f"Similar to {title}")
        self.assertEqual(self.browser.value("document.querySelectorAll('img').length"), 0)

    def test_one_error_is_shown_once(self):
        for state, panel, words in (
                ({"user": "nobody"}, "#best", "unknown user 'nobody'"),
                ({"user": "u919", "k": "0"}, "#best", "k is 0"),
                ({"given": ["no item"]}, "#best", "unknown item 'no item'"),
                ({"user": "u919", "item": "no item"}, "#similar", "unknown item 'no item'")):
            self.open(state)
            self.assertIn(words, self.text(panel + " .error"))
            self.assertEqual(len([text for text in self.texts(".error") if text != ""]), 1)
            self.assertEqual(self.texts(panel + " ol li"), [])
        self.open({"user": "nobody"})
        self.enter("u919")
        self.assertEqual("".join(self.texts(".error")), "")

    def test_fits_a_phone_and_a_desktop_in_light_and_dark(self):
        for size in (SMALL_PHONE, PHONE, DESKTOP):
            for dark in (False, True):
                self.browser.resize(*size, dark)
                self.open({"user": "w" * 150, "k": "300", "item": "w" * 150})
                self.pick_nothing("w" * 100)
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

    def pick_nothing(self, text):
        """Types into the field of items, so that suggestions are open."""
        self.browser.value("document.getElementById('find').focus()")
        self.browser.type(text)
        self.browser.wait("!document.getElementById('found').hidden")

    def test_works_by_keyboard_and_has_names_for_everything(self):
        self.open({"user": "u838"})
        reached = []
        for _ in range(7):
            self.browser.press("Tab", 9)
            reached.append(self.browser.value(
                "[document.activeElement.id || document.activeElement.type ,"
                "getComputedStyle(document.activeElement).outlineStyle]"))
        self.assertEqual(reached, [[name, "solid"] for name in
                                   ("home", "radio", "user", "some_user", "k", "with_seen",
                                    "submit")])
        nameless = self.browser.value(
            "[...document.querySelectorAll('input, textarea')].filter((e) => e.labels.length === 0)"
            ".length")
        self.assertEqual(nameless, 0)


class ShowsTitles(Page):
    """What pages with titles do besides."""

    def title(self, item):
        return TITLES.get(item, item)

    def test_titles_are_everywhere(self):
        self.titles_of_links_are_right({})
        self.titles_of_links_are_right({"user": "u919", "item": "item 0", "k": "300"})
        self.assertEqual(self.text("#similar_title"), "Similar to Amélie & the <b>River</b>")
        self.titles_of_links_are_right({"given": ["item 0", ODD, "what"]})
        self.assertEqual(self.texts("#given_items li"),
                         ["Amélie & the <b>River</b>×", ODD + "×", "what×"])
        self.assertIn("unknown and left out: what", self.text("[role=status]"))

    def titles_of_links_are_right(self, state):
        self.open(state)
        links = self.browser.value("[...document.querySelectorAll('a.item')].map((link) =>"
                                   "[link.dataset.item, link.textContent])")
        self.assertGreater(len(links), 10)
        for item, text in links:
            self.assertEqual(text, self.title(item))

    def test_items_are_found_by_title(self):
        self.open()
        self.pick("find", "amelie RIVER")
        self.browser.wait("read_state().item === 'item 0'")
        self.settle()
        self.check_rows("similar", "--similar-to", "item 0")
        self.browser.click("document.querySelector('[value=new]')")
        self.browser.value("document.getElementById('given').focus()")
        self.browser.type("amélie")
        self.browser.press("Enter", 13, "\r")
        self.browser.wait("read_state().given.join() === 'item 0'")
        self.settle()
        self.check_rows("best", "--items", "item 0")
        self.browser.type("no such film")
        self.browser.press("Enter", 13, "\r")
        self.browser.wait("read_state().given.length === 2")
        self.settle()
        self.check_rows("best", "--items", "item 0")
        self.assertIn("unknown and left out: no such film", self.text("[role=status]"))


class ServedPage(Explores, unittest.TestCase):
    @classmethod
    def start(cls):
        return cls.for_class(Server(MODEL)).address

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
        self.check_rows("best", "--user", "u838")
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
        kept = self.address
        with Server(self.model) as other:
            self.address = other.address
            self.open({"user": "u919", "item": "item 0"})
            other.stop()
            self.browser.click("document.querySelector('[type=submit]')")
            self.browser.wait("problems.best !== ''")
            self.settle()
            self.assertIn("does not answer", "".join(self.texts(".error")))
            self.assertEqual(self.texts(".error").count(""), 3)
        self.tearDown()
        self.browser.events.clear()
        self.address = kept


class TitledPage(ShowsTitles, unittest.TestCase):
    titles = property(lambda self: TITLES)

    @classmethod
    def start(cls):
        return cls.for_class(Server(MODEL, "--titles", TITLES_FILE)).address


def write_page(folder, *options):
    subprocess.run([BET_SERVE, "page", MODEL, "--out", folder, "--runtime", RUNTIME, *options],
                   check=True, stdout=subprocess.DEVNULL)
    return folder


@unittest.skipUnless(os.path.exists(os.path.join(sys.argv[3], "index.js")),
                     f"no runtime for browsers in {sys.argv[3]} (make wasm)")
class PageWithoutServer(Explores, ShowsTitles, unittest.TestCase):
    """Opened from the disk, without a network."""
    titles = property(lambda self: TITLES)
    tolerance = 1e-5
    document = "index.html"

    @classmethod
    def start(cls):
        cls.browser.call("Network.emulateNetworkConditions", offline=True, latency=0,
                         downloadThroughput=0, uploadThroughput=0)
        cls.addClassCleanup(cls.browser.call, "Network.emulateNetworkConditions", offline=False,
                            latency=0, downloadThroughput=-1, uploadThroughput=-1)
        folder = write_page(os.path.join(FOLDER, "page"), "--titles", TITLES_FILE)
        return f"file://{folder}/"

    def test_says_that_nobody_learns_who_asked(self):
        self.open({"user": "u919"})
        self.assertIn("Nobody learns who asked for what", self.text("footer"))
        self.assertIn("in this browser", self.text("#status"))
        self.assertEqual(self.texts("footer a"), [])

    def test_its_policy_lets_nothing_out(self):
        self.open()
        refused = self.browser.value("fetch('https://example.org/').then(() => 'sent',"
                                     "() => 'refused')")
        self.assertEqual(refused, "refused")
        self.assertTrue(any(method == "Log.entryAdded" and
                            "connect-src 'none'" in params["entry"]["text"]
                            for method, params in self.browser.events), self.browser.events)
        self.browser.events.clear()

    def test_answers_what_the_server_answers(self):
        self.open()
        quoted = urllib.parse.quote
        paths = ["/model", "/users?prefix=u9&limit=3", "/users", "/popular?k=3", "/seen?user=u919",
                 f"/seen?user={quoted(ODD)}", "/items", f"/items?q={quoted(ODD)}",
                 "/similar?item=item+0&k=4", "/recommend?user=u919", "/recommend?user=u919&k=300&include_seen=1"]
        for query in ("film", "FILM 1", "1 film", "of 7", "m 1 ", "item 9", "item 0", "river amélie",
                      "amelie & t", "<b>", " ", "w", "none"):
            paths += [f"/items?q={quoted(query)}&limit={limit}" for limit in (3, 20, 1000)]
        questions = [(path, None) for path in paths]
        questions += [("/recommend", {"items": given, "k": 5}) for given in
                      (["item 0"], [ODD, "what", MARKUP])]
        with Server(MODEL, "--titles", TITLES_FILE) as server:
            for path, body in questions:
                data = None if body is None else json.dumps(body).encode()
                with urllib.request.urlopen(server.address[:-1] + path, data) as answer:
                    served = json.load(answer)
                question = f"{json.dumps(path)}, {json.dumps(body)} ?? undefined"
                own = self.browser.value(f"api({question})")
                self.assertEqual(rounded(own), rounded(served), path)


def rounded(answer):
    """Scores of two processors and compilers are equal to some digits."""
    if isinstance(answer, dict):
        return {key: rounded(value) for key, value in answer.items()}
    if isinstance(answer, list):
        return [rounded(value) for value in answer]
    return round(answer, 4) if isinstance(answer, float) else answer


@unittest.skipUnless(os.path.exists(os.path.join(sys.argv[3], "index.js")),
                     f"no runtime for browsers in {sys.argv[3]} (make wasm)")
class HostedPage(Page, unittest.TestCase):
    """The same folder, without titles, on a host of plain files."""
    tolerance = 1e-5

    @classmethod
    def start(cls):
        return cls.for_class(FileServer(write_page(os.path.join(FOLDER, "hosted")))).address

    def test_works_from_a_host_of_plain_files(self):
        for size in (PHONE, DESKTOP):
            self.browser.resize(*size)
            self.open()
            self.check_rows("best", "--user", "no such user", "--missing", "popular")
            self.enter("u919")
            self.check_rows("best", "--user", "u919")

    def test_an_incomplete_folder_is_said_to_be_so(self):
        folder = write_page(os.path.join(FOLDER, "incomplete"))
        os.remove(os.path.join(folder, "model.js"))
        self.browser.open(f"file://{folder}/index.html")
        self.browser.wait("problems.model !== '' && !document.querySelector('[aria-busy]')")
        self.assertEqual([text for text in self.texts(".error") if text != ""],
                         ["The page is not complete: model.js cannot be loaded."])
        self.browser.events.clear()


if __name__ == "__main__":
    BET_SERVE, MAKE_MODEL, RUNTIME = sys.argv[1:]
    if find_chromium() is None:
        print("page: skipped: there is no chromium here (tools/packages-page.txt)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
