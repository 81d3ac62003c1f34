"""Classes that a parsed statement of Spark may have: those of queries, which change nothing.

The names are those of classes in Spark, below `org.apache.spark.sql.`. Spark's parser uses no
others for a query. A class that is not listed is refused, so that a statement of a later version is
refused until it has been reviewed.
"""

from __future__ import annotations

from typing import Final

FUNCTION: Final = "catalyst.analysis.UnresolvedFunction"
TABLE_FUNCTION: Final = "catalyst.analysis.UnresolvedTableValuedFunction"
GENERATOR: Final = "catalyst.analysis.UnresolvedGenerator"
RELATION: Final = "catalyst.analysis.UnresolvedRelation"
DESCRIBED: Final = "catalyst.analysis.UnresolvedTableOrView"
WITH: Final = "catalyst.plans.logical.UnresolvedWith"
HINT: Final = "catalyst.plans.logical.UnresolvedHint"
OPTIONS: Final = "util.CaseInsensitiveStringMap"

# The value of a literal is not part of the plan, nor are rows of VALUES.
LEAVES: Final = frozenset({"catalyst.expressions.Literal", "catalyst.plans.logical.LocalRelation"})
TYPES: Final = "types."
"""Data types, which are leaves as well."""

_HINTS: Final = """
    broadcast broadcastjoin mapjoin merge mergejoin shuffle_merge shuffle_hash
    shuffle_replicate_nl"""
HINTS: Final = frozenset(_HINTS.split())
"""Hints for joins. Others set numbers of partitions, and Spark accepts billions."""

_NAMES: Final = {
    "catalyst.": "AliasIdentifier FunctionIdentifier",
    "catalyst.analysis.": """
        CurrentNamespace$ MultiAlias UnresolvedAlias UnresolvedAttribute UnresolvedExtractValue
        UnresolvedFunction UnresolvedFunctionName UnresolvedGenerator UnresolvedHaving
        UnresolvedInlineTable UnresolvedOrdinal UnresolvedPipeAggregateOrdinal UnresolvedQualify
        UnresolvedRegex UnresolvedRelation UnresolvedStar UnresolvedStarExceptOrReplace
        UnresolvedSubqueryColumnAliases UnresolvedTVFAliases UnresolvedTableOrView
        UnresolvedTableOrViewSearchPathMode$Ddl$
        UnresolvedTableOrViewSearchPathMode$QueryLike$ UnresolvedTableValuedFunction""",
    "catalyst.expressions.": """
        Add Alias And Ascending$ AttributeReference BitwiseAnd BitwiseNot BitwiseOr BitwiseXor
        CaseWhen Cast Coalesce Collate Concat CreateNamedStruct Cube CurrentDate CurrentRow$
        CurrentTime CurrentTimestamp CurrentUser Descending$ Divide EqualNullSafe EqualTo Exists
        ExprId GreaterThan GreaterThanOrEqual GroupingSets ILike In InSubquery IntegralDivide
        IsNotNull IsNull LambdaFunction LateralSubquery LessThan LessThanOrEqual Like LikeAll
        LikeAny ListQuery Literal Lower Multiply NamedArgumentExpression Not NotLikeAll NotLikeAny
        NullsFirst$ NullsLast$ NumericEvalContext Or Overlay PipeExpression PipeOperator RLike
        RangeFrame$ Remainder Rollup RowFrame$ ScalarSubquery SemiStructuredExtract ShiftLeft
        ShiftRight ShiftRightUnsigned SortOrder SpecifiedWindowFrame StringLocate StringTrim
        StringTrimLeft StringTrimRight Substring Subtract TimestampAdd TimestampDiff UnaryMinus
        UnaryPositive UnboundedFollowing$ UnboundedPreceding$ Unnest UnresolvedCollation
        UnresolvedNamedLambdaVariable UnresolvedWindowExpression UnspecifiedFrame$
        WindowExpression WindowSpecDefinition WindowSpecReference""",
    "catalyst.expressions.aggregate.": "AggregateExpression AnyValue Complete$ First Last",
    "catalyst.plans.": """
        Cross$ FullOuter$ Inner$ LeftAnti$ LeftOuter$ LeftSemi$ NaturalJoin RightOuter$
        UsingJoin""",
    "catalyst.plans.logical.": """
        Aggregate DescribeColumn DescribeFunction DescribeRelation Distinct Except Filter Generate
        GlobalLimit Intersect Join JoinHint LateralJoin LimitAll LocalLimit LocalRelation Offset
        OneRowRelation Pivot Project RepartitionByExpression Sample SampleMethod$Bernoulli$
        SampleMethod$System$ ShowColumns ShowFunctions ShowTables Sort SubqueryAlias Union Unpivot
        UnresolvedHint UnresolvedWith WithWindowDefinition""",
    "execution.": "CodegenMode$ CostMode$ ExtendedMode$ FormattedMode$ SimpleMode$",
    "execution.command.": "DescribeQueryCommand ExplainCommand",
    "util.": "CaseInsensitiveStringMap",
}
CLASSES: Final = frozenset(
    package + name for package, names in _NAMES.items() for name in names.split()
)
