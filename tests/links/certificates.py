"""Certificates for tests, made by the `openssl` command."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="certificates are made by the openssl command"
)


class Authority:
    """A certificate authority in a folder; `issue` returns paths of a certificate and its key."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self.folder = folder
        self.certificate = folder / f"{name}.pem"
        self._key = folder / f"{name}.key"
        _run(
            *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
            *("-nodes", "-keyout", str(self._key), "-out", str(self.certificate)),
            *("-days", "2", "-subj", f"/CN={name}"),
        )

    def issue(self, name: str, alternative: str, is_expired: bool = False) -> tuple[Path, Path]:
        """`alternative` is what the certificate is for: `DNS:localhost`, `IP:127.0.0.1`."""
        key = self.folder / f"{name}.key"
        request = self.folder / f"{name}.csr"
        certificate = self.folder / f"{name}.pem"
        extensions = self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={alternative}\n")
        _run(
            *("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-keyout", str(key), "-out", str(request), "-subj", f"/CN={name}"),
        )
        _run(
            *("x509", "-req", "-in", str(request), "-out", str(certificate)),
            *("-CA", str(self.certificate), "-CAkey", str(self._key), "-CAcreateserial"),
            *("-days", "-1" if is_expired else "2", "-extfile", str(extensions)),
        )
        return certificate, key

    def issue_for(self, name: str, alternative: str, lifetime_s: float) -> tuple[Path, Path]:
        """A certificate that expires soon, in whole seconds."""
        certificate, key = self.issue(name, alternative)
        (self.folder / "index.txt").touch()
        config = self.folder / "ca.cnf"
        config.write_text(
            f"""[ca]
default_ca = own
[own]
database = {self.folder}/index.txt
new_certs_dir = {self.folder}
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
"""
        )
        expiry = time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + lifetime_s))
        _run(
            *("ca", "-batch", "-notext", "-config", str(config), "-enddate", expiry),
            *("-cert", str(self.certificate), "-keyfile", str(self._key)),
            *("-in", str(self.folder / f"{name}.csr"), "-out", str(certificate)),
            *("-extfile", str(self.folder / f"{name}.ext")),
        )
        return certificate, key


def _run(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=30)
