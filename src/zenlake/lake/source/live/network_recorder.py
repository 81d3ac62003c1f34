"""NetworkRecorder: runs `zenlake record` as a child of the planning process of a query."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Final

from zenlake.capture.recordings import is_recording
from zenlake.lake.errors import LakeError

if TYPE_CHECKING:
    from zenlake.lake.source.live.options import Network

_START_SECONDS: Final = 15
_STOP_SECONDS: Final = 5
_LOOK_SECONDS: Final = 0.05
_DEATH_SIGNAL: Final = 1
"""PR_SET_PDEATHSIG of prctl."""
_CHARACTERS_MAX: Final = 500
_OTHER_RECORDER: Final = "another recorder writes to it"


class NetworkRecorder:
    """Records into a folder, unless another recorder has locked it and does so."""

    def __init__(self, network: Network, folder: str) -> None:
        parent = os.path.dirname(folder)
        try:
            os.makedirs(parent, mode=0o700, exist_ok=True)
            if os.stat(parent).st_uid != os.getuid():
                raise LakeError("belongs to another user", parent)
        except OSError as error:
            raise LakeError.from_os(error, parent) from None
        command = [sys.executable, "-m", "zenlake", "record", "--no-multicast-scouting"]
        for endpoint in network.endpoints:
            command += ["-e", endpoint]
        for key in network.keys:
            command += ["-k", key]
        self._folder = folder
        self._is_left_to_another = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # until `stop`
        self._process = subprocess.Popen(
            [*command, folder],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,  # no threads yet
        )
        self._wait(folder)

    def _wait(self, folder: str) -> None:
        """Waits until the recording exists."""
        until = time.monotonic() + _START_SECONDS
        while self._process.poll() is None and not is_recording(folder):
            if time.monotonic() > until:
                self.stop()
                raise LakeError(f"nothing was recorded within {_START_SECONDS} s", folder)
            time.sleep(_LOOK_SECONDS)
        self.check()

    def check(self) -> None:
        """Raises an error with the recorder's message if the recorder has ended.

        That another recorder has locked the folder is no error: its recording is followed.
        """
        if self._process.poll() is None or self._is_left_to_another:
            return
        self._errors.seek(0)
        output = self._errors.read(1 << 16).decode("utf-8", "replace")
        cause = " ".join(output.split())[:_CHARACTERS_MAX]
        if is_recording(self._folder) and _OTHER_RECORDER in cause:
            self._is_left_to_another = True
            return
        self._errors.close()
        raise LakeError(cause or "zenlake record ended", self._folder)

    def stop(self) -> None:
        """Completes the recording."""
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()


def _end_with_parent() -> None:
    """In the child: let the kernel end the recorder when the planning process is killed."""
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGTERM)
