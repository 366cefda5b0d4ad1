"""The SFT configuration, and every check that can be made before a model loads.

The paper's hyper-parameters of the SFT stage are lost with its Table 10; the defaults are common LoRA settings.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ct_tasks.errors import ConfigError, UnknownNameError
from ct_tasks.options import SEGMENTATIONS
from ct_train import limits, optim
from ct_train.data import halves
from ct_train.grpo.config import LORA_BOUNDS, LoraSettings

MAY_CHANGE = frozenset({"output_dir", "report_to", "save_steps", "keep_checkpoints", "gradient_checkpointing", "merge"})
"""Settings that do not change the weights, so a run that goes on may have others. ``model``, ``data`` and ``eval_data`` are
compared by content."""
BOUNDS = {
    "learning_rate": limits.POSITIVE,
    **dict.fromkeys(("batch_size", "accumulation", "max_tokens", "keep_checkpoints"), limits.COUNT),
    **dict.fromkeys(("limit", "eval_limit", "eval_steps", "probe_tokens"), limits.COUNT),
    **dict.fromkeys(("warmup_steps", "weight_decay", "probe", "save_steps"), limits.NOT_NEGATIVE),
    "max_steps": limits.STEPS,
    "seed": limits.SEED,
}


@dataclass(frozen=True)
class SftSettings:
    """One SFT run.

    ``data`` and ``eval_data``: JSON lines with ``completion`` and either ``prompt`` or ``program`` and ``call`` (see
    ``sft.data``). ``batch_size`` rows make a forward pass on each process, ``accumulation`` passes an optimiser step; with
    ``packing`` a row is ``max_tokens`` tokens of whole samples. ``chat: false`` continues plain text, without a template.
    ``lora.r: 0`` trains every weight. ``halve``: learn from half of the ``code`` or of the ``tests`` (Table 5). ``probe``
    held-out rows are answered at each evaluation (``probe_tokens`` at most each), and fmt, RCS and exact answers are logged.
    The newest ``keep_checkpoints`` checkpoints stay. ``merge`` writes the
    adapter merged into the model as well.
    """

    model: str = ""
    data: str = ""
    output_dir: str = ""
    eval_data: str = ""
    segmentation: str = "statement"
    chat: bool = True
    lora: LoraSettings = field(default_factory=LoraSettings)
    learning_rate: float = 1e-4
    optimizer: str = "adamw"
    schedule: str = "cosine"
    warmup_steps: int = 0
    weight_decay: float = 0.0
    epochs: float = 3.0
    max_steps: int = -1
    batch_size: int = 4
    accumulation: int = 1
    max_tokens: int = 6144
    packing: bool = False
    bf16: bool = True
    gradient_checkpointing: bool = True
    limit: int | None = None
    halve: str = ""
    eval_limit: int | None = 256
    eval_steps: int = 100
    probe: int = 0
    probe_tokens: int = 2048
    save_steps: int = 100
    keep_checkpoints: int = 2
    merge: bool = True
    seed: int = 0
    report_to: str = "tensorboard"

    def check(self) -> None:
        """Refuse what cannot work, with what to change. Raises ``ConfigError`` or ``UnknownNameError``."""
        for name in ("model", "data", "output_dir"):
            if not getattr(self, name):
                raise ConfigError(f"sft needs {name}: set it in the config or with {name}=...")
        optim.check(self.optimizer, self.schedule, lora=self.lora.r > 0)
        halves.check(self.halve)
        if self.segmentation not in SEGMENTATIONS:
            raise UnknownNameError("segmentation", self.segmentation, SEGMENTATIONS)
        limits.check(self, BOUNDS)
        limits.check(self.lora, LORA_BOUNDS, "lora.")
        if self.probe and not self.eval_data:
            raise ConfigError("probe needs eval_data, the held-out rows to answer; set it, or probe=0")
        if self.epochs <= 0 and self.max_steps < 1:
            raise ConfigError(f"epochs {self.epochs} and max_steps {self.max_steps} train nothing; set one of them")


def may_change(settings: SftSettings) -> frozenset[str]:
    """``MAY_CHANGE``, and the run's length where the learning rate does not depend on it."""
    return MAY_CHANGE | optim.length_may_change(settings.schedule)
