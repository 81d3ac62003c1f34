"""Cases are asserted outside of test files, and shall say as much when they fail."""

import pytest

pytest.register_assert_rewrite("tests.interop.cases")
