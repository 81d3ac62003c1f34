"""Chromium without a window, controlled through a pipe in its DevTools protocol."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

PROGRAM: Final = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (found := shutil.which(name))
    ),
    None,
)
MISSING: Final = "no Chromium here: install the package chromium to run it"
_FLAGS: Final = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
# Chromium reads from file descriptor 3 and writes to 4, whatever numbers ours have.
_EXEC: Final = """
import fcntl, os, sys
held = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 50) for number in sys.argv[1:3]]
os.dup2(held[0], 3)
os.dup2(held[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Chromium:
    """One browser with one tab.

    `problems` are its error messages, `requests` the addresses that it loaded.
    """

    def __init__(self, profile: Path) -> None:
        assert PROGRAM is not None
        (to_read, self._out), (self._in, to_write) = os.pipe(), os.pipe()
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", _EXEC, str(to_read), str(to_write)),
                *(PROGRAM, *_FLAGS, f"--user-data-dir={profile}"),
            ],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.problems: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(20)
        os.close(self._in)
        os.close(self._out)

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": arguments}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer.get('error')}"
                result: dict[str, Any] = answer["result"]
                return result

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            received = os.read(self._in, 1 << 20)
            assert received, "Chromium went away"
            self._buffer += received
        raw, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(raw)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        method, params = message.get("method"), message.get("params", {})
        if method == "Log.entryAdded":
            self.problems.append(params["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.problems.append(str([one.get("value") for one in params["args"]]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def run(self, script: str) -> Any:
        """The value of an expression, as JSON has it."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def show(self, page: Path, width: int = 1440, height: int = 900, dark: bool = False) -> float:
        """Opens a page on a screen of that size; returns the seconds until it is drawn."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        begun = time.perf_counter()
        self.call("Page.navigate", url=page.resolve().as_uri())
        while not self.run("document.documentElement?.dataset.ready === 'yes'"):
            assert time.perf_counter() - begun < 30, f"it is not drawn: {self.problems}"
            time.sleep(0.02)
        self.wait_for_frames()
        return time.perf_counter() - begun

    def wait_for_frames(self) -> None:
        """Wait until the changes of the page are drawn."""
        frame = "await new Promise((done) => requestAnimationFrame(done));"
        self.run(f"(async () => {{ {frame * 4} }})()")

    def hover(self, x: float, y: float) -> None:
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def picture(self, path: Path) -> None:
        """A picture of the whole page, as if the screen were as high as the page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        shape = {"width": size["width"], "height": size["height"], "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", deviceScaleFactor=1, **shape)
        self.wait_for_frames()
        answer = self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(answer["data"]))
