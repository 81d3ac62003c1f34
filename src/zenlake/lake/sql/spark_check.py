"""Checks that a statement of Spark only reads the tables of a lake.

Spark's own parser parses the statement. Nothing is resolved or run: resolving a name or optimizing
a plan may already call a function. Every object of the plan must be of a class in `spark_plan`,
every function in `spark_functions` or one of ours, every table one of the lake.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from zenlake.lake.errors import LakeError
from zenlake.lake.spark import java_command
from zenlake.lake.sql import spark_plan
from zenlake.lake.sql.functions import FUNCTIONS, READ_ONLY, sql_error
from zenlake.lake.sql.spark_functions import ALLOWED, REFUSED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SPARK: Final = "org.apache.spark.sql."
_NEEDS_JAVA: Final = (
    "a statement is checked by Spark's parser, which needs Java on this machine as well: "
    "install openjdk-17-jre-headless or set JAVA_HOME, and the package pyspark with its jars"
)
_SUBSTITUTE: Final = "spark.sql.variable.substitute"
# Values without parts of interest: texts, numbers, identifiers of columns.
_VALUES: Final = ("java.", "scala.Enumeration", "scala.math.", "org.apache.spark.unsafe.types.")


def check_reads_only(spark: SparkSession, sql: str, tables: Collection[str]) -> None:
    """Error unless `sql` is a query of `tables`; the parser's own error if it is no statement."""
    with _parser(spark) as (gateway, parser):
        _Check(gateway, tables).check(parser.parsePlan(sql))


@contextmanager
def _parser(spark: SparkSession) -> Iterator[tuple[Any, Any]]:
    """The session's parser, and the gateway to its Java process."""
    if hasattr(spark, "_jsparkSession"):
        yield spark.sparkContext._gateway, spark._jsparkSession.sessionState().sqlParser()
        return
    with _java_for_connect() as gateway:
        package = gateway.jvm.org.apache.spark.sql
        # The same setting as in the session.
        package.internal.SQLConf.get().setConfString(_SUBSTITUTE, "false")
        yield gateway, package.execution.SparkSqlParser()


@contextmanager
def _java_for_connect() -> Iterator[Any]:
    """A client of Spark Connect has no Java process: one is started for the parser alone."""
    import pyspark
    from py4j.java_gateway import (
        GatewayParameters,
        JavaGateway,
        launch_gateway,
    )

    jars = Path(pyspark.__file__).parent / "jars"
    try:
        port, token = launch_gateway(
            jarpath=str(next(jars.glob("py4j-*.jar"))),
            classpath=str(jars / "*"),
            java_path=java_command(),
            die_on_exit=True,
            enable_auth=True,
        )
    except (OSError, StopIteration):
        raise LakeError(_NEEDS_JAVA, "SQL") from None
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))
    try:
        yield gateway
    finally:
        gateway.shutdown()


class _Check:
    def __init__(self, gateway: Any, tables: Collection[str]) -> None:
        self._gateway = gateway
        self._tables = tables
        self._named = {name.lower() for name in tables}
        self._kinds: dict[str, str] = {}
        self._relations: list[Any] = []

    def check(self, plan: Any) -> None:
        """Checks all fields of all nodes, so that no nested plan is missed."""
        pending = [plan]
        while pending:
            pending += self._parts(pending.pop())
        # Relations are checked last, when all names of WITH are known.
        for relation in self._relations:
            self._check_relation(relation)

    def _parts(self, one: Any) -> list[Any]:
        from py4j.java_gateway import JavaObject

        if not isinstance(one, JavaObject):
            return []  # a text, a number, a boolean: Py4J has converted it
        name = str(one.getClass().getName())
        if name.startswith(_SPARK):
            name = name.removeprefix(_SPARK)
            if name.startswith(spark_plan.TYPES):
                return []
            self._check_node(one, name)
            if name in spark_plan.LEAVES or name == spark_plan.OPTIONS:
                return []
        return self._members(one, name)

    def _members(self, one: Any, name: str) -> list[Any]:
        """The elements of a collection, or the fields of a case class."""
        kind = self._kind(one, name)
        if kind == "value":
            return []
        members = one.iterator() if kind == "collection" else one.productIterator()
        found = []
        while members.hasNext():
            found.append(members.next())
        return found

    def _kind(self, one: Any, name: str) -> str:
        if name not in self._kinds:
            self._kinds[name] = self._find_kind(one, name)
        return self._kinds[name]

    def _find_kind(self, one: Any, name: str) -> str:
        from py4j.java_gateway import is_instance_of

        if is_instance_of(self._gateway, one, "scala.collection.Iterable"):
            return "collection"
        if is_instance_of(self._gateway, one, "scala.Product"):
            return "fields"
        if name in spark_plan.CLASSES or name.startswith(_VALUES):
            return "value"
        raise _not_a_query(name)

    def _check_node(self, one: Any, name: str) -> None:
        if name not in spark_plan.CLASSES:
            raise _not_a_query(name)
        if name == spark_plan.FUNCTION:
            self._check_function(_texts(one.nameParts()), one, bool(one.isInternal()))
        elif name == spark_plan.TABLE_FUNCTION:
            self._check_function(_texts(one.name()), one)
        elif name == spark_plan.GENERATOR:
            self._check_function(str(one.name().unquotedString()).split("."), one)
        elif name in (spark_plan.RELATION, spark_plan.DESCRIBED):
            self._relations.append(one)
        elif name == spark_plan.WITH:
            self._named |= {_first(part).lower() for part in _each(one.cteRelations())}
        elif name == spark_plan.HINT and str(one.name()).lower() not in spark_plan.HINTS:
            raise _error(f"the hint {one.name()} is not allowed: only those for joins", one)
        elif name == spark_plan.OPTIONS and not one.isEmpty():
            raise LakeError("options of a table are not allowed", "SQL")

    def _check_function(self, parts: list[str], one: Any, is_internal: bool = False) -> None:
        name = ".".join(parts)
        if len(parts) > 1:
            raise _error(f"the function {name} is not allowed: give its name alone", one)
        why = REFUSED.get(name.lower())
        if why is None and is_internal:
            why = "it is internal to Spark"
        if why is not None:
            raise _error(f"the function {name} is not allowed: it {why}", one)
        if name.lower() not in ALLOWED and name.lower() not in FUNCTIONS:
            raise _error(f"the function {name} is not one of those that are allowed", one)

    def _check_relation(self, relation: Any) -> None:
        parts = _texts(relation.multipartIdentifier())
        if len(parts) != 1 or parts[0].lower() not in self._named:
            name = ".".join(f"`{part}`" for part in parts)
            known = ", ".join(self._tables)
            raise _error(f"the table {name} cannot be found; there are: {known}", relation)


def _not_a_query(name: str) -> LakeError:
    return LakeError(f"{READ_ONLY}, not {name.rpartition('.')[2].rstrip('$')}", "SQL")


def _error(cause: str, node: Any) -> LakeError:
    """An error that names the place of a node in the statement; Spark counts columns from 0."""
    line, column = (node.origin().line(), node.origin().startPosition())
    if line.isEmpty() or column.isEmpty():
        return sql_error(cause)
    return sql_error(cause, int(line.get()), int(column.get()) + 1)


def _each(collection: Any) -> Iterator[Any]:
    members = collection.iterator()
    while members.hasNext():
        yield members.next()


def _texts(collection: Any) -> list[str]:
    return [str(part) for part in _each(collection)]


def _first(tuple_: Any) -> str:
    return str(tuple_.productElement(0))
