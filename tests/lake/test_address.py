"""A place has one address, whatever its spelling."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.command import assert_refused
from tests.zenlake_process import run_zenlake
from zenlake.errors import LocalError
from zenlake.lake.address import parse


def test_local_file_has_one_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    whole = os.path.join(tmp_path, "caps", "x y.pcap")
    spellings = ["caps/x y.pcap", "./caps/x y.pcap", "caps//x y.pcap", "caps/../caps/x y.pcap"]
    spellings += [whole, f"file:{whole}", f"file://{whole}", f"FILE://localhost{whole}"]
    spellings += [f"file://{whole}".replace(" ", "%20")]
    assert {str(parse(one)) for one in spellings} == {whole}
    assert parse("caps/x y.pcap").is_local


@pytest.mark.parametrize("text", ["s3://b/a/x", "s3a://b/a/x", "S3N://b//a/x/", "s3:/b/a/x"])
def test_object_has_one_address(text: str) -> None:
    assert str(parse(text)) == "s3://b/a/x"
    assert (parse(text) / "y").name == "y"
    assert not parse(text).is_local


def test_hadoop_keeps_its_name_node() -> None:
    address = parse("hdfs://name:8020/caps/x")
    assert (str(address), address.fs_path) == ("hdfs://name:8020/caps/x", "/caps/x")
    assert address.renames_cheaply
    assert not parse("gs://b/x").renames_cheaply


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("s4://bucket/x", "unknown address scheme 's4', known are file:, s3://"),
        ("http://host/x.pcap", "unknown address scheme 'http'"),
        ("s3a//bucket/x", "write s3a://bucket/x for the address, ./s3a//bucket/x for a local path"),
        ("s3:bucket/x", "write s3://bucket/x for the address"),
        ("s3://", "names no bucket"),
        ("s3://b/../other/x", "no '.' or '..'"),
        ("file://elsewhere/x", "names no host"),
    ],
)
def test_invalid_addresses_are_errors(text: str, cause: str) -> None:
    with pytest.raises(LocalError, match=cause):
        parse(text)


def test_file_whose_name_looks_like_an_address_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s4:").mkdir()
    (tmp_path / "s4:" / "x").write_text("")
    assert str(parse("s4:/x")) == os.path.join(tmp_path, "s4:", "x")
    assert str(parse("C:x")) == os.path.join(tmp_path, "C:x")


def test_unreachable_store_is_an_error_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("deltalake", reason="needs zenlake[sql]")
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:9")
    result = run_zenlake("lake", "ls", "--lake", "s3a://b/lake")
    assert_refused(result, "credential")
    assert result.stderr.startswith("zenlake: s3://b/lake")
    assert "\\x1b" not in result.stderr
