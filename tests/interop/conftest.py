"""Cases are asserted outside of test files: rewrite their assertions as well."""

import pytest

pytest.register_assert_rewrite("tests.interop.cases")
