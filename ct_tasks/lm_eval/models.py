"""The names that ``--model`` takes, known without importing a model."""

from __future__ import annotations

from ct_tasks.errors import UnknownNameError


def check_model(name: str) -> None:
    """Raises ``UnknownNameError`` with suggestions for a model that lm-eval does not have."""
    import lm_eval.models  # noqa: F401 - fills the registry with names; each model's module is imported when it is used
    from lm_eval.api.registry import model_registry

    known = list(model_registry.keys())
    if name not in known:
        raise UnknownNameError("model", name, known)
