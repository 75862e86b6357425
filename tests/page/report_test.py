#!/usr/bin/env python3
"""report_test.py MAKE_PAGE: the pages of a run, a comparison and an experiment, report.html, as Chromium sees them.

Exits with 77, which ctest takes for skipped, where there is no Chromium.
"""

import base64
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # nothing is written beside the sources
from chromium import FAINT, Chromium, find_chromium  # noqa: E402

PHONE = (390, 844)
DESKTOP = (1280, 900)


class ReportTest(unittest.TestCase):
    def test_fits_a_phone_and_a_desktop_in_light_and_dark_and_loads_nothing(self):
        with tempfile.TemporaryDirectory(prefix="bet_report_") as folder, \
                Chromium(find_chromium()) as browser:
            pages = []
            for what in ([], ["compare"], ["experiment"]):
                pages.append(os.path.join(folder, "-".join(["report", *what]) + ".html"))
                with open(pages[-1], "wb") as file:
                    subprocess.run([MAKE_PAGE, *what], check=True, stdout=file)
                for size in (PHONE, DESKTOP):
                    for dark in (False, True):
                        with self.subTest(what=what, size=size, dark=dark):
                            browser.resize(*size, dark)
                            browser.open("file://" + pages[-1])
                            self.looks_right(browser, size, dark)
                self.prints(browser)
            self.asked_for_nothing(browser, pages)

    def looks_right(self, browser, size, dark):
        browser.value("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
        self.assertEqual(browser.value("document.documentElement.scrollWidth"), size[0])
        # Wide tables scroll by themselves; all else is inside of the screen.
        outside = browser.value(
            "[...document.querySelectorAll('body *')].filter((e) => !e.closest('.wide table') &&"
            "e.getBoundingClientRect().right > innerWidth).map((e) => e.outerHTML.slice(0, 100))")
        self.assertEqual(outside, [])
        self.assertEqual(browser.value(FAINT), [])
        # The texts of charts can be read: their size on the screen, in pixels.
        smallest = browser.value(
            "Math.min(...[...document.querySelectorAll('figure svg')].map((e) =>"
            "11 * e.getBoundingClientRect().width / e.viewBox.baseVal.width))")
        self.assertGreater(smallest, 10)
        cut = browser.value(
            "[...document.querySelectorAll('figure svg')].flatMap((svg) => {"
            "  const box = svg.getBoundingClientRect();"
            "  return [...svg.querySelectorAll('text, circle, rect')].filter((e) => {"
            "    const b = e.getBoundingClientRect();"
            "    return b.left < box.left - 1 || b.right > box.right + 8 || b.top < box.top - 1 ||"
            "      b.bottom > box.bottom + 1; }).map((e) => e.textContent); })")
        self.assertEqual(cut, [])
        bright = browser.value(
            "getComputedStyle(document.body).backgroundColor.match(/\\d+/g)[0] > 127")
        self.assertEqual(bright, not dark)

    def prints(self, browser):
        pdf = base64.b64decode(browser.call("Page.printToPDF")["data"])
        self.assertIn(pdf.count(b"/Type /Page\n"), range(1, 8))

    def asked_for_nothing(self, browser, pages):
        for method, params in browser.events:
            if method == "Network.requestWillBeSent":
                self.assertIn(params["request"]["url"],
                              ["about:blank", *("file://" + page for page in pages)])
            self.assertNotIn(method, ("Runtime.exceptionThrown", "Runtime.consoleAPICalled",
                                      "Log.entryAdded"), params)
        self.assertFalse(browser.value("'hacked' in window"))


if __name__ == "__main__":
    MAKE_PAGE = sys.argv[1]
    if find_chromium() is None:
        print("report: skipped: there is no chromium here (tools/packages-page.txt)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
