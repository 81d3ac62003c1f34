"""zenlake sql --master: a statement can only read the tables of the lake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.cli import sql_lake
from tests.cli.command import complaint_of
from zenlake.cli.main import main
from zenlake.lake.sql.functions import FUNCTIONS
from zenlake.lake.sql.spark_functions import ALLOWED, REFUSED

pytestmark = pytest.mark.xdist_group("spark")
MASTER = "local[1]"
PROPERTY = "'java.lang.System', 'getProperty', 'user.home'"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    return sql_lake.make(tmp_path_factory.mktemp("sql") / "a.lake").directory


def test_every_function_of_spark_is_allowed_or_refused_by_name(spark: SparkSession) -> None:
    """A new version of Spark may add functions: add each of them to one of the lists."""
    names = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    state = spark._jsparkSession.sessionState()
    for registry in (state.functionRegistry(), state.tableFunctionRegistry()):
        found = registry.listFunction().iterator()
        while found.hasNext():
            names.add(found.next().funcName())
    assert len(names) > 500
    ours = {*FUNCTIONS}
    assert names - ours - ALLOWED - REFUSED.keys() == set()
    assert not ALLOWED & REFUSED.keys()
    assert {"java_method", "reflect", "try_reflect"} <= REFUSED.keys()


JAVA = r"the function \S+ is not allowed: it runs Java code"
READ_ONLY = "a lake is only read here"
NAME_ALONE = "is not allowed: give its name alone"
NO_TABLE = "cannot be found; there are: samples"
NO_FUNCTION = "is not one of those that are allowed"
REFUSED_STATEMENTS = {
    # Java code, wherever a function can be called
    f"SELECT java_method({PROPERTY})": JAVA,
    f"SELECT REFLECT({PROPERTY}) AS x": JAVA,
    f"SELECT try_reflect({PROPERTY})": JAVA,
    f"SELECT `java_method`({PROPERTY})": JAVA,
    f"SELECT system.builtin.java_method({PROPERTY})": NAME_ALONE,
    f"SELECT builtin.reflect({PROPERTY})": NAME_ALONE,
    f"SELECT spark_catalog.default.reflect({PROPERTY})": NAME_ALONE,
    f"SELECT IDENTIFIER('reflect')({PROPERTY})": READ_ONLY,
    f"SELECT transform(array(1), x -> reflect({PROPERTY}))": JAVA,
    f"SELECT 1 FROM samples LATERAL VIEW explode(array(reflect({PROPERTY}))) t AS a": JAVA,
    f"SELECT 1 FROM samples LATERAL VIEW reflect({PROPERTY}) t AS a": JAVA,
    f"SELECT * FROM explode(array(reflect({PROPERTY})))": JAVA,
    f"SELECT * FROM samples WHERE key = reflect({PROPERTY})": JAVA,
    f"SELECT count(*) FROM samples GROUP BY reflect({PROPERTY})": JAVA,
    f"SELECT count(*) FROM samples HAVING reflect({PROPERTY}) = ''": JAVA,
    f"SELECT * FROM samples ORDER BY reflect({PROPERTY})": JAVA,
    f"SELECT * FROM samples LIMIT length(reflect({PROPERTY}))": JAVA,
    f"SELECT count(*) FILTER (WHERE reflect({PROPERTY}) = '') FROM samples": JAVA,
    f"SELECT sum(1) OVER (ORDER BY reflect({PROPERTY})) FROM samples": JAVA,
    f"SELECT sum(1) OVER w FROM samples WINDOW w AS (ORDER BY reflect({PROPERTY}))": JAVA,
    f"SELECT listagg(key) WITHIN GROUP (ORDER BY reflect({PROPERTY})) FROM samples": JAVA,
    f"SELECT CASE WHEN true THEN reflect({PROPERTY}) END": JAVA,
    f"SELECT CAST(reflect({PROPERTY}) AS BINARY)": JAVA,
    f"SELECT named_struct('a', reflect({PROPERTY})).a": JAVA,
    f"SELECT array(1)[length(reflect({PROPERTY}))]": JAVA,
    f"SELECT (SELECT reflect({PROPERTY}))": JAVA,
    f"SELECT 1 WHERE EXISTS (SELECT reflect({PROPERTY}))": JAVA,
    f"SELECT 1 WHERE 'a' IN (SELECT reflect({PROPERTY}))": JAVA,
    f"WITH x AS (SELECT reflect({PROPERTY}) AS a) SELECT a FROM x": JAVA,
    f"SELECT * FROM samples, LATERAL (SELECT reflect({PROPERTY}))": JAVA,
    f"SELECT * FROM samples a JOIN samples b ON reflect({PROPERTY}) = a.key": JAVA,
    f"SELECT 1 AS a UNION ALL SELECT reflect({PROPERTY})": JAVA,
    f"SELECT * FROM samples PIVOT (max(reflect({PROPERTY})) FOR seq IN (1, 2))": JAVA,
    f"VALUES (reflect({PROPERTY}))": JAVA,
    f"SELECT * FROM VALUES (reflect({PROPERTY})) AS t(a)": JAVA,
    f"FROM samples |> SELECT reflect({PROPERTY})": JAVA,
    f"FROM samples |> WHERE reflect({PROPERTY}) = ''": JAVA,
    f"FROM samples |> EXTEND reflect({PROPERTY}) AS x": JAVA,
    f"FROM samples |> AGGREGATE max(reflect({PROPERTY}))": JAVA,
    f"EXPLAIN SELECT reflect({PROPERTY})": JAVA,
    f"EXPLAIN EXTENDED SELECT reflect({PROPERTY})": JAVA,
    f"DESCRIBE QUERY SELECT reflect({PROPERTY})": JAVA,
    f"SELECT * FROM IDENTIFIER(reflect({PROPERTY}))": READ_ONLY,
    f"SELECT /*+ REPARTITION(1) */ reflect({PROPERTY})": "is not allowed",
    f"SELECT '\\'', reflect({PROPERTY}) /* ' */": JAVA,
    # Programs, files and the environment
    "SELECT TRANSFORM (key) USING 'cat' AS (x) FROM samples": READ_ONLY,
    "FROM samples MAP key USING 'cat' AS x": READ_ONLY,
    "FROM samples REDUCE key USING 'cat' AS x": READ_ONLY,
    "SELECT * FROM csv.`/etc/passwd`": NO_TABLE,
    "SELECT * FROM IDENTIFIER('csv.`/etc/passwd`')": NO_TABLE,
    "SELECT * FROM samples, text.`/etc/passwd`": NO_TABLE,
    "TABLE text.`/etc/passwd`": NO_TABLE,
    "DESCRIBE text.`/etc/passwd`": NO_TABLE,
    "SELECT * FROM `/etc/passwd`": NO_TABLE,
    "SELECT * FROM spark_catalog.default.samples": NO_TABLE,
    "SELECT * FROM global_temp.samples": NO_TABLE,
    "SELECT * FROM samples WITH (path = '/etc/passwd')": "options of a table are not allowed",
    "SELECT * FROM samples VERSION AS OF 1": READ_ONLY,
    "SELECT * FROM read_files('/etc/passwd')": NO_FUNCTION,
    "SELECT * FROM STREAM samples": READ_ONLY,
    "SELECT input_file_name() FROM samples": "it tells the paths of files",
    "SELECT * FROM python_worker_logs()": "is not allowed",
    "SELECT from_xml('<a/>', 'a INT', map('rowValidationXSDPath', '/etc/passwd'))": "reads XML",
    "SELECT xpath_string('<a/>', 'a')": "reads XML",
    "SELECT from_protobuf(payload, 'a', '/etc/passwd') FROM samples": "may name files",
    "SELECT no_such_function(1)": NO_FUNCTION,
    # Statements that act
    "CREATE TEMPORARY FUNCTION f AS 'java.lang.Runtime'": READ_ONLY,
    "CREATE TEMPORARY FUNCTION f() RETURNS INT RETURN 1": READ_ONLY,
    "CREATE FUNCTION f AS 'a.B' USING JAR '/tmp/a.jar'": READ_ONLY,
    "CREATE TEMPORARY VIEW v AS SELECT 1": READ_ONLY,
    "CREATE TEMPORARY VIEW v USING csv OPTIONS (path '/etc/passwd')": READ_ONLY,
    "CREATE TABLE t USING csv LOCATION '/etc/passwd'": READ_ONLY,
    "CREATE TABLE t AS SELECT 1": READ_ONLY,
    "DROP VIEW samples": READ_ONLY,
    "INSERT INTO samples VALUES (1)": READ_ONLY,
    "FROM samples INSERT OVERWRITE DIRECTORY '/nowhere' USING csv SELECT *": READ_ONLY,
    "INSERT OVERWRITE LOCAL DIRECTORY '/nowhere' USING csv SELECT 1": READ_ONLY,
    "EXPLAIN INSERT INTO samples VALUES (1)": READ_ONLY,
    "EXPLAIN CREATE TABLE t AS SELECT 1": READ_ONLY,
    "MERGE INTO samples USING samples b ON true WHEN MATCHED THEN DELETE": READ_ONLY,
    "LOAD DATA LOCAL INPATH '/etc/passwd' INTO TABLE samples": READ_ONLY,
    "EXECUTE IMMEDIATE 'SELECT 1'": READ_ONLY,
    "BEGIN SELECT 1; END": READ_ONLY,
    "BEGIN DECLARE x INT = 1; SELECT x; END": READ_ONLY,
    "DECLARE VARIABLE x INT": READ_ONLY,
    "SET": READ_ONLY,
    "SET spark.sql.runSQLOnFiles = true": READ_ONLY,
    "SET VAR x = 1": READ_ONLY,
    "RESET": READ_ONLY,
    "ADD JAR '/tmp/a.jar'": READ_ONLY,
    "ADD FILE '/etc/passwd'": READ_ONLY,
    "LIST FILES": READ_ONLY,
    "CALL f()": READ_ONLY,
    "CACHE TABLE samples": READ_ONLY,
    "REFRESH '/etc'": READ_ONLY,
    "USE default": READ_ONLY,
    "ANALYZE TABLE samples COMPUTE STATISTICS": READ_ONLY,
    "SHOW CATALOGS": READ_ONLY,
    "SHOW TABLES IN default": READ_ONLY,
    "SHOW CREATE TABLE samples": READ_ONLY,
    "SELECT /*+ REPARTITION(2000000000) */ * FROM samples": "only those for joins",
    "SELECT :a": READ_ONLY,
    "SELECT ?": READ_ONLY,
    "SELECT ${env:HOME}": "Syntax error",
    "SELECT 1; SELECT 2": "",
}


@pytest.mark.parametrize("query", REFUSED_STATEMENTS)
def test_unsafe_statement_is_refused(
    query: str, lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    complaint = complaint_of(capsys, "sql", "--lake", str(lake), "--master", MASTER, query)
    assert complaint.startswith("SQL")
    assert re.search(REFUSED_STATEMENTS[query], complaint), complaint
    assert not complaint.endswith(str(Path.home()))


READS = {
    "SELECT '${env:HOME}' AS x": '{"x": "${env:HOME}"}\n',
    "SELECT count(*) AS n FROM (SELECT id FROM range(9223372036854775807) LIMIT 3)": '{"n": 3}\n',
    "SELECT '\\', reflect(1)' AS x": '{"x": "\', reflect(1)"}\n',
    "SELECT `reflect` FROM (SELECT 1 AS `reflect`)": '{"reflect": 1}\n',
    "SELECT 1 AS x -- reflect('a')": '{"x": 1}\n',
    "FROM samples |> WHERE seq > 2 |> AGGREGATE count(*) AS n": '{"n": 3}\n',
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 4) "
    "SELECT max(n) AS m FROM r": '{"m": 4}\n',
    "SELECT a FROM samples LATERAL VIEW explode(array(seq)) t AS a WHERE a = 1": '{"a": 1}\n',
    "SELECT seq, sum(1) OVER (PARTITION BY express ORDER BY seq ROWS BETWEEN 1 PRECEDING "
    "AND CURRENT ROW) AS n FROM Samples WHERE seq = 1 OR NOT seq < 9": '{"seq": 1, "n": 1}\n',
    "SELECT x[0] AS a, s.b AS b, m['k'] AS c FROM (SELECT transform(array(1), e -> e + 1) AS x, "
    "named_struct('b', 2) AS s, map('k', 3) AS m)": '{"a": 2, "b": 2, "c": 3}\n',
    "SELECT * FROM VALUES (1, 'a'), (2, 'b') AS t(x, y) WHERE y LIKE 'b%'": '{"x": 2, "y": "b"}\n',
    "SELECT CASE seq WHEN 1 THEN 'one' ELSE 'more' END AS x, seq BETWEEN 1 AND 2 AS y FROM samples "
    "WHERE seq IN (SELECT min(seq) FROM samples) GROUP BY ALL": '{"x": "one", "y": true}\n',
    "SELECT /*+ BROADCAST(b) */ count(*) AS n FROM samples a LEFT JOIN samples b USING (seq)": (
        '{"n": 5}\n'
    ),
    "SELECT * FROM (SELECT 1 AS a, 2 AS b) UNPIVOT (v FOR k IN (a, b)) ORDER BY v DESC LIMIT 1": (
        '{"k": "b", "v": 2}\n'
    ),
    "SELECT max(seq) AS m FROM samples HAVING count(*) > 1 EXCEPT SELECT 9": '{"m": 5}\n',
    "SELECT extract(YEAR FROM DATE '2024-02-03') AS y, trim(BOTH 'x' FROM 'xax') AS t, "
    "substring('abc' FROM 2 FOR 1) AS s, position('c' IN 'abc') AS p, -1 AS m, 7 div 2 AS d": (
        '{"y": 2024, "t": "a", "s": "b", "p": 3, "m": -1, "d": 3}\n'
    ),
    "SELECT ke_intersects('a/*', 'a/b') AS x, count(*) FILTER (WHERE seq > 1) AS n FROM samples": (
        '{"x": true, "n": 4}\n'
    ),
}


@pytest.mark.parametrize("query", READS)
def test_safe_query_is_executed(query: str, lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", "--lake", str(lake), "--master", MASTER, "--json", query]) == 0
    assert capsys.readouterr() == (READS[query], "")


@pytest.mark.parametrize(
    "query",
    [
        "SHOW TABLES",
        "SHOW FUNCTIONS",
        "SHOW COLUMNS IN samples",
        "DESCRIBE samples",
        "DESC TABLE EXTENDED samples",
        "DESCRIBE samples key",
        "DESCRIBE FUNCTION reflect",
        "DESCRIBE QUERY SELECT seq FROM samples",
        "EXPLAIN SELECT * FROM samples",
        "EXPLAIN FORMATTED SELECT count(*) FROM samples",
        "TABLE samples",
        "SELECT current_user, current_date, current_timestamp()",
    ],
)
def test_describing_statements_are_allowed(
    query: str, lake: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sql", "--lake", str(lake), "--master", MASTER, query]) == 0
    out, err = capsys.readouterr()
    assert out
    assert err == ""


def test_settings_of_a_running_session_are_restored(lake: Path, spark: SparkSession) -> None:
    names = ("spark.sql.runSQLOnFiles", "spark.sql.variable.substitute")
    before = [spark.conf.get(name) for name in names]
    assert before == ["true", "true"]
    assert main(["sql", "--lake", str(lake), "--master", MASTER, "SELECT 1"]) == 0
    assert [spark.conf.get(name) for name in names] == before
