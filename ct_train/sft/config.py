"""The SFT configuration, and every check that can be made before a model loads.

The paper's hyper-parameters of the SFT stage are lost with its Table 10; the defaults are common LoRA settings.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ct_tasks.errors import ConfigError
from ct_train import optim
from ct_train.data import halves
from ct_train.grpo.config import LoraSettings


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
        for name in ("batch_size", "accumulation", "max_tokens", "keep_checkpoints"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} {getattr(self, name)} must be at least 1")
        if self.probe and not self.eval_data:
            raise ConfigError("probe needs eval_data, the held-out rows to answer; set it, or probe=0")
        if self.eval_data and self.eval_steps < 1:
            raise ConfigError(f"eval_steps {self.eval_steps} must be at least 1 where eval_data is given")
        if self.epochs <= 0 and self.max_steps < 1:
            raise ConfigError(f"epochs {self.epochs} and max_steps {self.max_steps} train nothing; set one of them")
