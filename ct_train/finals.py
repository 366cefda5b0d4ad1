"""The two ends of a run on trl: its arguments, checked, and its final model, which appears whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ct_tasks.errors import ConfigError
from ct_train.output import replaced


def checked_arguments(kind: Any, arguments: Mapping[str, Any]) -> Any:
    """An instance of trl's configuration. Raises ``ConfigError`` where it, or a logger that it names, refuses a setting."""
    from transformers.integrations import get_reporting_integration_callbacks

    try:
        made = kind(**arguments)
        get_reporting_integration_callbacks(made.report_to)
    except (ValueError, RuntimeError, ImportError) as error:
        raise ConfigError(f"trl refuses these settings: {str(error).strip()[:300]}") from error
    return made


def save_final(trainer: Any, tokenizer: Any, output: Path) -> Path:
    """Write ``final`` with the tokenizer; every process calls it. A kill meanwhile leaves no half model under that name."""
    final, partial = output / "final", output / "final.part"
    if trainer.is_world_process_zero():
        shutil.rmtree(partial, ignore_errors=True)
    trainer.accelerator.wait_for_everyone()
    trainer.save_model(str(partial))
    trainer.accelerator.wait_for_everyone()
    if trainer.is_world_process_zero():
        tokenizer.save_pretrained(str(partial))
        replaced(final, partial)
    return final
