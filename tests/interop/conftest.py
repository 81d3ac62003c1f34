"""Cases have assertions outside of test files: pytest rewrites those as well."""

import pytest

pytest.register_assert_rewrite("tests.interop.cases")
