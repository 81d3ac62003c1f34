"""The surface is that of eclipse-zenoh's stub: names, parameters, kinds, defaults."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import pytest

import zenlake
from tests.api.stub import NOTHING, Parameter, Signature, StubClass, read_stub
from zenlake.api.documents.compatibility import ADDED, NOT_OFFERED

MODULES = {"": "__init__", "handlers.": "handlers", "ext.": "ext"}
STUB = {
    prefix + name: what
    for prefix, module in MODULES.items()
    for name, what in read_stub(module).items()
}
OFFERED = [name for name in STUB if name not in NOT_OFFERED]


def ours(name: str) -> Any:
    prefix, _, own = name.rpartition(".")
    return getattr(importlib.import_module(f"zenlake.{prefix}" if prefix else "zenlake"), own)


def exists(name: str) -> bool:
    try:
        return ours(name) is not None
    except AttributeError:
        return False


def signature_of(thing: Any) -> Signature:
    found = inspect.signature(thing).parameters.values()
    return [
        Parameter(
            each.name, each.kind.name, NOTHING if each.default is each.empty else repr(each.default)
        )
        for each in found
    ]


def test_no_name_of_the_stub_is_missing() -> None:
    assert [name for name in OFFERED if not exists(name)] == []


def test_names_that_are_not_offered_do_not_exist() -> None:
    for name in NOT_OFFERED:
        assert not exists(name), name
        assert name in STUB or name == "shm"


@pytest.mark.parametrize("name", [name for name in OFFERED if isinstance(STUB[name], list)])
def test_functions_have_the_same_parameters(name: str) -> None:
    assert signature_of(ours(name)) == STUB[name]


@pytest.mark.parametrize("name", [name for name in OFFERED if isinstance(STUB[name], StubClass)])
def test_classes_have_the_same_members(name: str) -> None:
    cls, stub = ours(name), STUB[name]
    assert isinstance(stub, StubClass)
    for member, expected in stub.members.items():
        if member == "__new__":
            assert signature_of(cls) == expected
            continue
        assert hasattr(cls, member), member
        # The names of operators' arguments are not public.
        if expected is not None and not member.startswith("__"):
            assert known_part(f"{name}.{member}", method_signature(cls, member)) == expected, member


def method_signature(cls: type, member: str) -> Signature:
    is_bound = isinstance(inspect.getattr_static(cls, member), classmethod)
    return signature_of(getattr(cls, member))[0 if is_bound else 1 :]


def known_part(path: str, signature: Signature) -> Signature:
    """The signature without the parameters that zenlake adds, which are optional."""
    added = ADDED.get(path, ())
    assert all(each.kind == "KEYWORD_ONLY" for each in signature if each.name in added)
    return [each for each in signature if each.name not in added]


def test_names_are_in_all() -> None:
    for name in OFFERED:
        if exists(name) and "." not in name:
            assert name in zenlake.__all__
