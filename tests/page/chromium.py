"""A headless Chromium and one page in it, driven by the DevTools protocol over a pair of pipes."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

TIMEOUT_S = 60  # for whatever is waited for; machines of a CI are slow

# Elements whose text has less contrast than WCAG's AA asks for (4.5, whatever the size).
FAINT = """(() => {
  const channels = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (c) => c.slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const back = (e) => {
    for (; e; e = e.parentElement) {
      const c = channels(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  return [...document.body.querySelectorAll('*')].filter((e) => {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim() !== '');
    if (!own || e.tagName === 'SCRIPT' || e.getClientRects().length === 0) return false;
    const [a, b] = [light(channels(getComputedStyle(e).color)), light(back(e))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
  }).map((e) => e.outerHTML.slice(0, 100));
})()"""


def find_chromium():
    """The program's path, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def high_pipe():
    """A pipe with numbers that are not 3 or 4, whatever else is open."""
    low = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in low]
    for end in low:
        os.close(end)
    return high


class Chromium:
    """Starts the browser; `with` ends it and removes its profile. Not for several threads."""

    def __init__(self, program):
        self._profile = tempfile.TemporaryDirectory(prefix="bet_page_", ignore_cleanup_errors=True)
        commands, self._commands = high_pipe()
        self._answers, answers = high_pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   "--no-first-run", "--disable-background-networking", "--hide-scrollbars",
                   "--remote-debugging-pipe", f"--user-data-dir={self._profile.name}"]
        # Chromium reads commands from 3 and writes answers to 4; the shell puts our pipes there.
        script = f'exec 3<&{commands} 4>&{answers} {commands}<&- {answers}>&-; exec "$@"'
        self._log = open(os.path.join(self._profile.name, "log"), "w+b")
        self._process = subprocess.Popen(["bash", "-c", script, "bash", program, *options],
                                         pass_fds=(commands, answers), stdin=subprocess.DEVNULL,
                                         stdout=self._log, stderr=self._log,
                                         env={**os.environ, "HOME": self._profile.name})
        os.close(commands)
        os.close(answers)
        self._buffer = b""
        self._last_id = 0
        self._session = None
        self.events = []  # (method, params), in the order they came

    def __enter__(self):
        try:
            self._open_page()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _open_page(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target,
                                  flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def __exit__(self, *_):
        try:
            self._session = None
            self.call("Browser.close")
            self._process.wait(10)
        except (OSError, RuntimeError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._log.close()
        os.close(self._commands)
        os.close(self._answers)
        self._profile.cleanup()

    def _message(self, deadline):
        while b"\0" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._answers], [], [], left)[0]:
                raise TimeoutError(f"chromium says nothing for {TIMEOUT_S} s; {self._log_tail()}")
            some = os.read(self._answers, 1 << 20)
            if not some:
                raise RuntimeError(f"chromium is gone; {self._log_tail()}")
            self._buffer += some
        text, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(text)

    def _log_tail(self):
        self._log.seek(0)
        return "its log ends: " + self._log.read()[-2000:].decode(errors="replace")

    def call(self, method, **params):
        """The result of one command; what else comes meanwhile is kept in `events`."""
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            answer = self._message(deadline)
            if "method" in answer:
                self.events.append((answer["method"], answer["params"]))
            elif answer["id"] == self._last_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def value(self, script):
        """What a JavaScript expression is, as JSON."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, script):
        """Until the expression is true in JavaScript's sense; returns its value."""
        deadline = time.monotonic() + TIMEOUT_S
        while not (value := self.value(script)):
            if time.monotonic() > deadline:
                raise TimeoutError(f"not within {TIMEOUT_S} s: {script}")
            time.sleep(0.02)
        return value

    def resize(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 500)
        scheme = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url):
        """A new document, even where only the part behind # differs."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait("location.href !== 'about:blank' && document.readyState === 'complete'")

    def click(self, script):
        """A mouse click on the middle of the element that the expression names."""
        self.wait(f"!!({script})")
        box = self.value(f"(() => {{ const e = {script}; e.scrollIntoView({{block: 'center'}});"
                         "const b = e.getClientRects()[0];"
                         "return {x: b.x + b.width / 2, y: b.y + b.height / 2}; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **box)

    def type(self, text):
        """Into what has the focus, as one piece."""
        self.call("Input.insertText", text=text)

    def press(self, key, code, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=code, **({"text": text} if kind == "keyDown" else {}))

    def screenshot(self, path):
        """The whole page as a PNG file."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
