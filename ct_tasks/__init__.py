"""Code-reasoning evaluation tasks (``ct_*``) for lm-evaluation-harness, from the CodeThinker paper."""

__version__ = "0.1.0"
