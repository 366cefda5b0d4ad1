"""The hooks of ``child`` for the two programs that import gensim or bs4: loaded here, before the sandbox closes."""

from __future__ import annotations

import bs4  # noqa: F401
import gensim  # noqa: F401

from ct_tasks.benchmarks.reval.child import asserted, complete, trace

__all__ = ["asserted", "complete", "trace"]
