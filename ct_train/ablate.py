"""Table 2 in small: one GRPO run a row and seed at equal rollout budget, measured on held-out programs.

Each run is a `python -m ct_train grpo` of its own in ``output_dir/ROW/SEED``, followed by the measurement; ``result.json``
marks it done, so the same command goes on where it was killed. The table holds means over seeds with 95 % t-intervals.
"""

from __future__ import annotations

import dataclasses
import json
import math
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ct_tasks.errors import ConfigError, HarnessError, UnknownNameError
from ct_train import config
from ct_train.grpo.config import GrpoSettings

BEFORE = "sft"
REJECTION = "rejection_sampling"

ROWS: Mapping[str, Mapping[str, Any]] = {
    "codethinker": {},
    "without_dbs": {"regular": None},
    "without_prm": {"reward_options": {"prm": False}},
    "without_rcc": {"reward_options": {"rcc": False}},
    "without_orm": {"reward_options": {"orm": False}},
    "without_ccw": {"reward_options": {"ccw": False}},
    "outcome_without_dbs": {"reward_options": {"prm": False}, "regular": None},
    "codereasoner": {"reward": "codereasoner", "regular": None},
    "execverify": {"reward": "execverify", "regular": None},
    REJECTION: {},
}
"""Settings that differ from the base; ``regular: None`` is the whole group, so no DBS. The baselines' rewards come with
their own sampling, which is regular. Rejection sampling draws the same rollouts from the start model and learns the
perfect ones by SFT."""


@dataclass(frozen=True)
class AblateSettings:
    """``grpo``: the base run's settings, ``output_dir`` and ``seed`` left out. ``rows``: some of ``ROWS``, all by default.
    ``data``: held-out rows; ``samples`` answers a program at temperature 1."""

    output_dir: str = ""
    data: str = ""
    rows: tuple[str, ...] = tuple(ROWS)
    seeds: tuple[int, ...] = (0, 1, 2)
    samples: int = 5
    limit: int | None = None
    grpo: GrpoSettings = field(default_factory=GrpoSettings)

    def check(self) -> None:
        """Raises ``ConfigError`` or ``UnknownNameError`` before anything runs."""
        for name in ("output_dir", "data"):
            if not getattr(self, name):
                raise ConfigError(f"ablate needs {name}: set it in the config or with {name}=...")
        if not Path(self.data).is_file():
            raise ConfigError(
                f"no held-out rows at {self.data}; make them with `python -m ct_train micro`, or set data=..."
            )
        for row in self.rows:
            if row not in ROWS:
                raise UnknownNameError("row", row, ROWS)
        if not self.rows or not self.seeds or self.samples < 1:
            raise ConfigError("ablate needs at least one row, one seed and one sample")
        for row in self.rows:
            self.run_settings(row, self.seeds[0]).check()

    def run_settings(self, row: str, seed: int) -> GrpoSettings:
        """The GRPO settings of one run."""
        changes = dict(ROWS[row])
        if changes.get("regular", 0) is None:
            changes["regular"] = self.grpo.group_size
        # Switches are turned beside the base's options; another reward takes none of them.
        kept = {} if "reward" in changes else self.grpo.reward_options
        changes["reward_options"] = {**kept, **changes.get("reward_options", {})}
        return dataclasses.replace(self.grpo, output_dir=str(self.folder(row, seed)), seed=seed, **changes)

    def folder(self, row: str, seed: int) -> Path:
        return Path(self.output_dir) / row / str(seed)


def run(settings: AblateSettings) -> list[dict[str, Any]]:
    """All results, those that were there and those made now; writes ``table.md`` and ``results.json`` after each."""
    settings.check()
    found: list[dict[str, Any]] = [_start(settings)]
    for seed in settings.seeds:  # seed by seed, so that an interrupted ablation has whole comparisons
        for row in settings.rows:
            found.append(_one(settings, row, seed))
            _write(settings, found)
    _write(settings, found)
    return found


def _start(settings: AblateSettings) -> dict[str, Any]:
    """The start model, measured once."""
    path = settings.folder(BEFORE, 0) / "result.json"
    if not path.exists():
        _keep(path, {"row": BEFORE, "seed": 0, **measured(settings, settings.grpo.model)})
    return _load(path)


def _one(settings: AblateSettings, row: str, seed: int) -> dict[str, Any]:
    path = settings.folder(row, seed) / "result.json"
    if path.exists():
        return _load(path)
    made = settings.run_settings(row, seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    if row == REJECTION:
        from ct_train.rejection import train

        final = train(made)
        training: dict[str, Any] = {}
    else:
        file = path.with_name("settings.yaml")
        file.write_text(yaml.safe_dump(_plain(made)))
        with file.with_name("grpo.log").open("a") as log:
            command = [sys.executable, "-m", "ct_train", "grpo", "--config", str(file)]
            code = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT).returncode
        if code:
            raise HarnessError(f"grpo for {row}, seed {seed} ended with code {code}; see {log.name}")
        final = path.parent / "final"
        training = rollout_figures(json.loads((path.parent / "history.json").read_text()))
    _keep(path, {"row": row, "seed": seed, "training": training, **measured(settings, str(final))})
    return _load(path)


def measured(settings: AblateSettings, model: str) -> dict[str, Any]:
    """Held-out figures of a model."""
    from ct_train.micro.measure import measure_model

    return measure_model(Path(model), Path(settings.data), settings.samples, settings.limit)


def rollout_figures(history: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Means over all steps of what the groups looked like, and the tokens that were generated."""
    steps = [h for h in history if "rollout/group_max" in h]
    names = ("reward", "rollout/group_max", "rollout/hack_rate", "rollout/equal_groups", "rollout/rcs")
    figures = {
        n.removeprefix("rollout/"): statistics.fmean(float(h[n]) for h in steps)
        for n in names
        if steps and n in steps[0]
    }
    if steps:
        figures["last_reward"] = statistics.fmean(float(h["reward"]) for h in steps[-5:])
        figures["last_hack_rate"] = statistics.fmean(float(h["rollout/hack_rate"]) for h in steps[-5:])
        figures["generated_tokens"] = float(steps[-1]["rollout/generated_tokens"])
    return figures


COLUMNS: tuple[tuple[str, tuple[str, ...], float], ...] = (
    ("exact T=1 %", ("sampled", "exact"), 100),
    ("exact greedy %", ("greedy", "exact"), 100),
    ("RCS T=1 %", ("sampled", "rcs"), 100),
    ("whole T=1 %", ("sampled", "whole"), 100),
    ("fmt T=1 %", ("sampled", "fmt"), 100),
    ("hack T=1 %", ("sampled", "hack"), 100),
    ("group mean", ("training", "reward"), 1),
    ("group max", ("training", "group_max"), 1),
    ("hack in training %", ("training", "hack_rate"), 100),
    ("tokens generated", ("training", "generated_tokens"), 1),
)


def table(results: Sequence[Mapping[str, Any]]) -> str:
    """Markdown: a row a setting, mean ± half the 95 % t-interval over seeds."""
    lines = [
        "| row | seeds | " + " | ".join(name for name, _, _ in COLUMNS) + " |",
        "|---|" + "---:|" * (len(COLUMNS) + 1),
    ]
    for row in dict.fromkeys(str(r["row"]) for r in results):
        mine = [r for r in results if r["row"] == row]
        cells = [_cell(list(_values(mine, path)), scale) for _, path, scale in COLUMNS]
        lines.append(f"| {row} | {len(mine)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _values(results: Sequence[Mapping[str, Any]], path: Sequence[str]) -> Iterator[float]:
    for result in results:
        value: Any = result
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None:
            yield float(value)


def _cell(values: Sequence[float], scale: float) -> str:
    if not values:
        return ""
    mean = statistics.fmean(values) * scale
    digits = 0 if mean >= 1000 else 2 if scale == 1 else 1
    if len(values) < 2:
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ± {interval(values) * scale:.{digits}f}"


def interval(values: Sequence[float]) -> float:
    """Half the width of the 95 % t-interval of the mean."""
    from scipy.stats import t

    return float(t.ppf(0.975, len(values) - 1)) * statistics.stdev(values) / math.sqrt(len(values))


def _plain(settings: Any) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(settings)))
    return data


def _load(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(path.read_text())
    return data


def _keep(path: Path, data: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps(data, indent=1) + "\n")
    partial.replace(path)


def _write(settings: AblateSettings, found: Sequence[Mapping[str, Any]]) -> None:
    folder = Path(settings.output_dir)
    config.keep(settings, folder)
    (folder / "results.json").write_text(json.dumps(list(found), indent=1) + "\n")
    (folder / "table.md").write_text(table(found) + "\n")
