"""A training that meets a number which is none ends there, before anything of it is saved.

transformers replaces a loss that is NaN in its logs and goes on: the run ends well and its model answers nothing. Here the
loss of each forward pass, the gradient norm of each step and the weights after it are looked at, on all processes together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import Trainer, TrainerCallback

from ct_tasks.errors import ConfigError, HarnessError

SHOWN = 8


class FiniteMixin(Trainer):  # type: ignore[misc]
    """In front of a trainer among a class's bases."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.step_inputs: list[Any] = []
        super().__init__(*args, **kwargs)
        if bad := not_finite(self.model, frozen=True):
            raise ConfigError(
                f"the model to train holds numbers that are not finite in {bad}; take another one, e.g. an earlier checkpoint"
            )
        self.add_callback(_AfterStep(self))

    def rows_of(self, inputs: Any) -> list[str]:
        """The rows of a forward pass's inputs, as a user finds them (FILE:LINE)."""
        raise NotImplementedError

    def training_step(self, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """As the trainer's own. Raises ``HarnessError`` for a loss that is NaN or infinite."""
        self.step_inputs.append(inputs)
        loss = super().training_step(model, inputs, *args, **kwargs)
        self.stop_unless(bool(torch.isfinite(loss).all()), f"the loss is {float(loss)}", [inputs])
        return loss

    def _get_grad_norm(self, model: Any, grad_norm: Any = None) -> Any:
        norm = super()._get_grad_norm(model, grad_norm=grad_norm)
        value = 0.0 if norm is None else float(norm)
        self.stop_unless(math.isfinite(value), f"the gradient norm is {value}", self.step_inputs)
        return norm

    def stop_unless(self, fine: bool, what: str, inputs: Sequence[Any] = (), step: int | None = None) -> None:
        """Raises ``HarnessError`` on every process where ``fine`` is false on one. ``step`` counts from 1."""
        bad = torch.tensor(0.0 if fine else 1.0, device=self.accelerator.device)
        if not float(self.accelerator.reduce(bad, "sum")):
            return
        if fine:
            raise HarnessError("another process of this run met a number that is not finite; see its message")
        raise self.stopped(what, inputs, step)

    def stopped(self, what: str, inputs: Sequence[Any] = (), step: int | None = None) -> HarnessError:
        """What ends the run: the step, the rows, and the last checkpoint whose weights are known to give finite numbers."""
        step = self.state.global_step + 1 if step is None else step
        rows = list(dict.fromkeys(row for some in inputs for row in self.rows_of(some)))
        seen = f" (rows: {', '.join(rows[:SHOWN])}{', ...' if len(rows) > SHOWN else ''})" if rows else ""
        saved = {int(p.name.rsplit("-", 1)[1]): p for p in Path(self.args.output_dir).glob("checkpoint-*")}
        good = max((number for number in saved if number < step - 1), default=None)
        if what.startswith(("the gradient", "the weights")):
            good = max(saved, default=None)  # these weights gave a finite loss
        doubt = f" ({saved[step - 1].name} holds the weights that gave this)" if good != step - 1 and step - 1 in saved else ""
        kept = "there is no checkpoint before it" if good is None else f"the last good checkpoint is {saved[good]}"
        again = "" if good is None else f" from that checkpoint (model={saved[good]})"
        return HarnessError(
            f"step {step}: {what}{seen}. The run ends here and saves nothing of this step; {kept}{doubt}. Lower learning_rate, "
            f"or look at these rows, and start in a fresh output_dir{again}"
        )


class _AfterStep(TrainerCallback):  # type: ignore[misc]
    """The weights after each step, before they can be saved, and the loss on held-out rows."""

    def __init__(self, trainer: FiniteMixin) -> None:
        self.trainer = trainer

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        bad, trainer = not_finite(self.trainer.model), self.trainer
        trainer.stop_unless(not bad, f"the weights of {bad} are not finite", trainer.step_inputs, state.global_step)
        trainer.step_inputs = []

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **kwargs: Any) -> None:
        loss = (metrics or {}).get("eval_loss", 0.0)
        self.trainer.stop_unless(math.isfinite(loss), f"the loss on eval_data is {loss}", (), state.global_step)


@torch.no_grad()
def not_finite(model: Any, *, frozen: bool = False) -> str:
    """The first trainable weight (with ``frozen`` any) that holds NaN or an infinity; empty where all are finite. Under
    ZeRO-3 of the local part."""
    named = [(name, getattr(p, "ds_tensor", p)) for name, p in model.named_parameters() if frozen or p.requires_grad]
    named = [(name, tensor) for name, tensor in named if tensor.numel()]
    # One look at all of them; a sum that overflows alone is told apart below.
    if not named or bool(torch.isfinite(torch.stack([t.abs().sum(dtype=torch.float32) for _, t in named])).all()):
        return ""
    return next((name for name, tensor in named if not bool(torch.isfinite(tensor).all())), "")
