"""The paper in small on a CPU: data, SFT, GRPO, lm_eval before and after, report with curves.

Every step is one of the project's own commands in a process of its own, printed as it would be typed. A step that is done
is not run again, so the same command goes on after a kill.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ct_tasks.errors import ConfigError, HarnessError
from ct_train import limits
from ct_train.config import keep
from ct_train.output import locked, write_json
from ct_train.resume import refuse_other_settings


@dataclass(frozen=True)
class DemoSettings:
    """``programs`` to learn from in SFT (each once), GRPO steps of 32 programs x 8, held-out programs of ct_micro to
    evaluate (``limit``). The defaults are meant for one quiet core."""

    output_dir: str = "runs/demo"
    programs: int = 16000
    grpo_steps: int = 30
    limit: int = 256
    seed: int = 0

    def check(self) -> None:
        """Raises ``ConfigError`` for sizes that do nothing."""
        for name in ("programs", "grpo_steps", "limit"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1")
        limits.check(self, {"seed": limits.SEED})
        if not self.output_dir:
            raise ConfigError("demo needs output_dir, a folder for all it makes: output_dir=runs/demo")


@dataclass(frozen=True, slots=True)
class Step:
    """``done`` exists once the command has ended well."""

    name: str
    command: tuple[str, ...]
    done: Path


def steps(settings: DemoSettings) -> list[Step]:
    """The commands, in order."""
    out = Path(settings.output_dir)
    train, tasks = (sys.executable, "-m", "ct_train"), (sys.executable, "-m", "ct_tasks")
    small = ("bf16=false", "gradient_checkpointing=false", "schedule=linear", "report_to=none")
    world, seed = out / "world", f"seed={settings.seed}"
    sft = (
        *train, "sft", f"model={world}/init", f"data={world}/sft.jsonl", f"eval_data={world}/held_out.jsonl",
        f"output_dir={out}/sft", "lora.r=0", "optimizer=muon",
        "learning_rate=6e-3", "warmup_steps=20", "epochs=1", "batch_size=32", "max_tokens=512",
        "eval_limit=64", "eval_steps=200", "probe=64", "probe_tokens=256", "save_steps=200", seed, *small,
    )  # fmt: skip
    grpo = (
        *train, "grpo", f"model={out}/sft/final", f"data={world}/grpo.jsonl", f"output_dir={out}/grpo", "engine=static",
        "lora.r=0", "optimizer=muon", "learning_rate=1.2e-3", "prompts_per_rollout=32",
        "prompts_per_update=32", "completions_per_device=256",
        f"max_steps={settings.grpo_steps}", "max_prompt_tokens=256", "max_response_tokens=192", "save_steps=10", seed, *small,
    )  # fmt: skip
    found = [
        Step("world", (*train, "micro", f"output_dir={world}", f"sft={settings.programs}", seed), world / "micro.json"),
        Step("sft", sft, out / "sft" / "history.json"),
        Step("grpo", grpo, out / "grpo" / "history.json"),
    ]
    for name in ("sft", "grpo"):
        evaluate = (
            *tasks, "run", "--run_dir", f"{out}/eval/{name}", "--model", "hf", "--model_args",
            f"pretrained={out}/{name}/final,dtype=float32", "--device", "cpu", "--batch_size", "64", "--tasks", "ct_micro",
            "--apply_chat_template", "--limit", str(settings.limit), "--gen_kwargs", "temperature=1.0,do_sample=True",
        )  # fmt: skip
        found.append(Step(f"lm_eval {name}", evaluate, out / "eval" / name / ".done"))
    report = (*tasks, "report", f"{out}/eval/sft", f"{out}/eval/grpo", f"{out}/grpo", "--out", f"{out}/site")
    found.append(Step("report", report, out / "site" / "index.html"))
    return found


def run(settings: DemoSettings) -> Path:
    """Run what is not done yet; the report's folder. Raises ``HarnessError`` when a step fails, ``ConfigError`` where
    ``output_dir`` holds steps that were done with other settings."""
    settings.check()
    with locked(settings.output_dir) as out:
        if any(step.done.exists() for step in steps(settings)):
            refuse_other_settings(out, settings, {"output_dir"}, ways="name a fresh output_dir")
        keep(settings, out)
        times: dict[str, float] = {}
        for step in steps(settings):
            if step.done.exists():
                print(f"[{step.name}] done before")
                continue
            print(f"[{step.name}] {_shown(step.command)}", flush=True)
            begun = time.monotonic()
            with (out / f"{step.name.replace(' ', '_')}.log").open("a") as log:
                code = subprocess.run(step.command, stdout=log, stderr=subprocess.STDOUT).returncode
            if code:
                raise HarnessError(f"demo step {step.name} ended with code {code}; see {log.name}")
            step.done.parent.mkdir(parents=True, exist_ok=True)
            step.done.touch()
            times[step.name] = round(time.monotonic() - begun, 1)
            print(f"[{step.name}] {times[step.name]:.0f} s", flush=True)
            write_json(out / "times.json", times)
    return out / "site"


def _shown(command: Sequence[str]) -> str:
    return " ".join(["python", *command[1:]])
