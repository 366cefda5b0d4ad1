"""The paper's ablations: one GRPO run a row and seed from the same start, measured on the same questions.

Each run is a `python -m ct_train grpo` of its own in ``output_dir/ROW/SEED``, followed by the measurement; ``result.json``
marks it done, so the same command goes on where it was killed. Each result keeps what it was made with (settings by value,
data and start model by content). A result, or an unfinished run, made with anything else is never counted: ``run`` refuses
to start and says what differs, or moves it aside and does it again (``redo``).

The table holds means over seeds with 95 % t-intervals. Which rows there are, and which of them are the paper's, says
``ct_train.ablate_rows``.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ct_tasks.errors import ConfigError, HarnessError
from ct_train import config, identity
from ct_train.ablate_measure import check_evaluation, measure, measured_with, rollout_figures
from ct_train.ablate_rows import BEFORE, REJECTION, ROWS, expand
from ct_train.ablate_table import interval, table
from ct_train.grpo.config import GrpoSettings
from ct_train.output import locked, write_text
from ct_train.rewards import build
from ct_train.sft.config import SftSettings

__all__ = ["ROWS", "AblateSettings", "interval", "rollout_figures", "run", "table"]


@dataclass(frozen=True)
class AblateSettings:
    """``grpo``: the base run's settings, ``output_dir`` and ``seed`` left out. ``rows``: names of rows or of whole tables
    (``ablate_rows``).

    Measured on ``data``, held-out rows of the small world (``samples`` answers a program at temperature 1, ``limit``
    programs), or where ``evaluate`` names a config of ``harness_configs/eval`` by that. ``sft``: where it names a model, rows
    that halve the data make their own start model from it, as the paper does; else they halve GRPO's data alone.
    ``launch`` starts training (``[accelerate, launch, --config_file, FILE]``) on ``processes`` processes.
    """

    output_dir: str = ""
    data: str = ""
    rows: tuple[str, ...] = ("table2",)
    seeds: tuple[int, ...] = (0, 1, 2)
    samples: int = 5
    limit: int | None = None
    evaluate: str = ""
    launch: tuple[str, ...] = ()
    processes: int = 1
    grpo: GrpoSettings = field(default_factory=GrpoSettings)
    sft: SftSettings = field(default_factory=SftSettings)

    def check(self) -> None:
        """Raises ``ConfigError`` or ``UnknownNameError`` before anything runs."""
        if not self.output_dir:
            raise ConfigError("ablate needs output_dir: set it in the config or with output_dir=...")
        if not self.data and not self.evaluate:
            raise ConfigError("ablate needs data (held-out rows) or evaluate (a config of lm_eval): set one of them")
        if self.evaluate:
            check_evaluation(Path(self.evaluate))
        elif not Path(self.data).is_file():
            raise ConfigError(
                f"no held-out rows at {self.data}; make them with `python -m ct_train micro`, or set data=..."
            )
        if not expand(self.rows) or not self.seeds or self.samples < 1 or self.processes < 1:
            raise ConfigError("ablate needs at least one row, one seed, one sample and one process")
        for row in expand(self.rows):
            self.run_settings(row, self.seeds[0]).check(self.processes)
            if self.own_start(row):
                self.sft_settings(row, self.seeds[0]).check()

    def run_settings(self, row: str, seed: int) -> GrpoSettings:
        """The GRPO settings of one run."""
        changes = dict(ROWS[row])
        if changes.get("regular", 0) is None:
            changes["regular"] = self.grpo.group_size
        # Switches are turned beside the base's options; another reward takes none of them.
        kept = {} if "reward" in changes else self.grpo.reward_options
        changes["reward_options"] = {**kept, **changes.get("reward_options", {})}
        if "group_size" in changes:  # a smaller group fills a smaller forward pass
            update = self.grpo.prompts_per_update * changes["group_size"]
            changes["completions_per_device"] = min(self.grpo.completions_per_device, max(1, update // self.processes))
        return dataclasses.replace(self.grpo, output_dir=str(self.folder(row, seed)), seed=seed, **changes)

    def own_start(self, row: str) -> bool:
        """Whether the row's data make a start model of its own."""
        return bool(self.sft.model) and "halve" in ROWS[row]

    def sft_settings(self, row: str, seed: int) -> SftSettings:
        """The SFT settings of a row with a start model of its own."""
        return dataclasses.replace(
            self.sft, output_dir=str(self.folder(row, seed) / "sft"), seed=seed, halve=ROWS[row]["halve"]
        )

    def folder(self, row: str, seed: int) -> Path:
        return Path(self.output_dir) / row / str(seed)

    def training(self, row: str, seed: int) -> dict[str, Any]:
        """What the row's model is made with."""
        if row == BEFORE:
            return {"model": identity.of_path(self.grpo.model)}
        run = self.run_settings(row, seed)
        switches = dataclasses.asdict(build(run.reward, run.reward_options))  # type: ignore[call-overload]
        made = {**identity.of_settings(run), "reward_options": switches}  # with their defaults: alpha 1 is no change
        start = {"sft": identity.of_settings(self.sft_settings(row, seed))} if self.own_start(row) else {}
        return {"by": REJECTION if row == REJECTION else "grpo", "processes": self.processes, "grpo": made, **start}


def run(settings: AblateSettings, *, redo: bool = False) -> list[dict[str, Any]]:
    """All results, those that were there and those made now; writes ``table.md`` and ``results.json`` after each.

    Raises ``ConfigError`` where results there were made with other settings, unless ``redo`` moves them aside, and where
    another process works in ``output_dir``.
    """
    settings.check()
    todo = [(BEFORE, 0), *((row, seed) for seed in settings.seeds for row in expand(settings.rows))]
    facts = {"measured": measured_with(settings)}
    made = {place: {"training": settings.training(*place), **facts} for place in todo}
    with locked(settings.output_dir):
        _refuse_stale(settings, made, redo)
        found: list[dict[str, Any]] = []
        for (row, seed), facts in made.items():  # seed by seed, so that an interrupted ablation has whole comparisons
            found.append(_one(settings, row, seed, facts, found))
            _write(settings, found)
    return found


def plans(settings: AblateSettings) -> Iterator[dict[str, Any]]:
    """What ``run`` would do, row by row, for the first seed: settings, steps and memory, and the command. Nothing runs."""
    from ct_train.data.halves import halve
    from ct_train.grpo.data import load_rows
    from ct_train.grpo.plan import plan

    settings.check()
    data = Path(settings.grpo.data)
    rows = load_rows(data, settings.grpo.limit) if data.is_file() else None
    for row in expand(settings.rows):
        made = settings.run_settings(row, settings.seeds[0])
        schedule = made.check(settings.processes)
        command = "rejection sampling, then sft" if row == REJECTION else " ".join(_command(settings, "grpo", row))
        facts = plan(made, schedule, len(halve(rows, made.halve))) if rows else {"rows": f"none at {data} yet"}
        yield {"row": row, "runs": len(settings.seeds), "changes": dict(ROWS[row]), **facts, "command": command}


def _one(
    settings: AblateSettings, row: str, seed: int, facts: Mapping[str, Any], found: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    folder = settings.folder(row, seed)
    path = folder / "result.json"
    if path.exists():
        return _load(path)
    _keep(folder / "identity.json", facts)
    twin = next((r for r in found if r["seed"] == seed and r["identity"]["training"] == facts["training"]), None)
    if row == BEFORE:
        model, training = settings.grpo.model, {}
    elif twin is not None:  # the same run under another table's name: trained once, measured under both
        model, training = twin["model"], twin["training"]
    else:
        model, training = _train(settings, row, seed)
    kept = {"row": row, "seed": seed, "model": model, "training": training, "identity": facts}
    _keep(path, {**kept, **measure(settings, row, model, folder)})
    return _load(path)


def _train(settings: AblateSettings, row: str, seed: int) -> tuple[str, dict[str, Any]]:
    """The final model of a row, and the figures of its rollouts."""
    made, folder = settings.run_settings(row, seed), settings.folder(row, seed)
    if row == REJECTION:
        from ct_train.rejection import train

        return str(train(made)), json.loads((folder / "rejection.json").read_text())
    if settings.own_start(row):
        start = settings.sft_settings(row, seed)
        _start(settings, "sft", row, folder, start)
        merged = Path(start.output_dir) / "merged"
        made = dataclasses.replace(made, model=str(merged if start.lora.r and start.merge else merged.with_name("final")))
    _start(settings, "grpo", row, folder, made)
    return str(folder / "final"), rollout_figures(json.loads((folder / "history.json").read_text()))


def _start(settings: AblateSettings, what: str, row: str, folder: Path, made: Any) -> None:
    """One training command in a process of its own. Raises ``HarnessError`` when it fails."""
    (folder / f"{what}.yaml").write_text(yaml.safe_dump(json.loads(json.dumps(dataclasses.asdict(made)))))
    with (folder / f"{what}.log").open("a") as log:
        command = [*_command(settings, what, row)[:-1], str(folder / f"{what}.yaml")]
        code = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT).returncode
    if code:
        raise HarnessError(f"{what} for {row}, {folder.name} ended with code {code}; see {log.name}")


def _command(settings: AblateSettings, what: str, row: str) -> list[str]:
    file = settings.folder(row, settings.seeds[0]) / f"{what}.yaml"
    return [*(settings.launch or (sys.executable,)), "-m", "ct_train", what, "--config", str(file)]


def _refuse_stale(settings: AblateSettings, made: Mapping[tuple[str, int], Mapping[str, Any]], redo: bool) -> None:
    """Say every result and unfinished run that was made with something else; move them aside, or raise ``ConfigError``."""
    stale: dict[Path, str] = {}
    for (row, seed), facts in made.items():
        folder = settings.folder(row, seed)
        result, begun = folder / "result.json", folder / "identity.json"
        if not folder.exists() or not any(folder.iterdir()):
            continue
        known = _load(result).get("identity") if result.exists() else _load(begun) if begun.exists() else None
        if known is None:
            stale[folder] = "it does not say with which settings it was made"
        elif differing := list(identity.differences(known, facts)):
            stale[folder] = "; ".join(differing[:6]) + (f"; {len(differing) - 6} more" if len(differing) > 6 else "")
    if not stale:
        return
    listed = "\n".join(f"  {folder}: {why}" for folder, why in stale.items())
    if not redo:
        raise ConfigError(
            f"{len(stale)} results in {settings.output_dir} were made with other settings:\n{listed}\n"
            "set them back, give another output_dir, or add --redo, which moves them aside and makes them again"
        )
    print(f"made with other settings, moved aside and made again:\n{listed}", file=sys.stderr)
    for folder in stale:
        number = next(n for n in range(1, 10_000) if not folder.with_name(f"{folder.name}.stale-{n}").exists())
        folder.rename(folder.with_name(f"{folder.name}.stale-{number}"))


def _load(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(path.read_text())
    return data


def _keep(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, data if isinstance(data, str) else json.dumps(data, indent=1) + "\n")


def _write(settings: AblateSettings, found: Sequence[Mapping[str, Any]]) -> None:
    folder = Path(settings.output_dir)
    config.keep(settings, folder)
    _keep(folder / "results.json", list(found))
    _keep(folder / "table.md", table(found) + "\n")
