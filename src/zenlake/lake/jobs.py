"""What tasks exchange with their driver: plain dictionaries that JSON can represent.

Tasks run in workers of Spark, in processes of `direct`, or in the calling process.
"""

from __future__ import annotations

from typing import Any

Job = dict[str, Any]
"""The arguments of one task, by name."""
Result = dict[str, Any]
"""What a task returns. `error` is the fault of its capture, `failure` ends the whole run."""
