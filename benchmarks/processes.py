"""What benchmarks share: free endpoints, and the memory and processor time of processes."""

from __future__ import annotations

import os
import socket
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def free_endpoint() -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"tcp/127.0.0.1:{free.getsockname()[1]}"


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
