"""What a run reports while it works, shown to people or handed to a function."""
import sys
import time
from typing import Any, Callable, Dict, Optional, Union

Progress = Union[bool, Callable[[Dict[str, Any]], Any]]


class Line:
    """One line on stderr that changes; on what is no terminal a line every ten seconds."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._shown = time.monotonic()
        self._open = False

    def message(self, text: str) -> None:
        self._write(text, ends=True)

    def progress(self, phase: str, done: float, total: float, detail: str, line: str) -> None:
        if time.monotonic() - self._shown < (0.2 if self._terminal else 10):
            return
        self._write(line, ends=not self._terminal)

    def phase_ended(self, line: str) -> None:
        self._write(line, ends=True)

    def _write(self, text: str, ends: bool) -> None:
        self._shown = time.monotonic()
        before = "\r\x1b[K" if self._open else ""
        self._open = not ends
        sys.stderr.write(before + text + ("\n" if ends else ""))
        sys.stderr.flush()


class Bars:
    """A bar of tqdm's for each phase."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Optional[Any] = None
        self._phase = ""

    def message(self, text: str) -> None:
        self._tqdm.write(text, file=sys.stderr)

    def progress(self, phase: str, done: float, total: float, detail: str, line: str) -> None:
        if self._bar is None or phase != self._phase:
            self._close()
            self._phase = phase
            self._bar = self._tqdm(desc=phase, total=100, unit="%", leave=False,
                                   bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed} {postfix}")
        self._bar.n = 100 * done / total if total > 0 else 0
        self._bar.set_postfix_str(detail)

    def phase_ended(self, line: str) -> None:
        self._close()
        self._tqdm.write(line, file=sys.stderr)

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class Function:
    """Calls a function with a dict: phase, done, total, detail and line; or message."""

    def __init__(self, function: Callable[[Dict[str, Any]], Any]) -> None:
        self._function = function

    def message(self, text: str) -> None:
        self._function({"message": text})

    def progress(self, phase: str, done: float, total: float, detail: str, line: str) -> None:
        self._function({"phase": phase, "done": done, "total": total, "detail": detail,
                        "line": line})

    def phase_ended(self, line: str) -> None:
        self._function({"message": line})


def listener_of(progress: Progress) -> Any:
    if progress is False or progress is None:
        return None
    if callable(progress):
        return Function(progress)
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return Line()
    return Bars(tqdm)
