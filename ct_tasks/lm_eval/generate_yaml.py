"""Write lm-eval's YAML files for every task and group of the registry: ``python -m ct_tasks.lm_eval.generate_yaml``."""

from __future__ import annotations

from pathlib import Path

from ct_tasks.benchmarks.registry import GROUPS, TASKS
from ct_tasks.lm_eval.hook import TASK_FOLDER

COMMAND = "# lm_eval run --model hf --model_args pretrained=MODEL --tasks {name} --apply_chat_template\n"


def files() -> dict[str, str]:
    """File name to content."""
    out = {}
    for name in TASKS:
        out[f"{name}.yaml"] = (
            COMMAND.format(name=name) + f"task: {name}\nclass: !function ct_tasks.lm_eval.task.CtTask\n"
        )
    for name, members in GROUPS.items():
        metrics = "aggregate_metric_list:\n" + "".join(
            f"  - metric: {metric}\n    aggregation: mean\n    weight_by_size: false\n    filter_list: [score]\n"
            for metric in ("acc", "acc_official")
        )
        listed = "".join(f"  - {member}\n" for member in members)
        out[f"{name}.yaml"] = (
            COMMAND.format(name=name) + f"group: {name}\ntask:\n{listed}{metrics}metadata:\n  version: 1\n"
        )
    return out


def main(folder: Path = TASK_FOLDER) -> None:
    folder.mkdir(exist_ok=True)
    wanted = files()
    for stale in folder.glob("*.yaml"):
        if stale.name not in wanted:
            stale.unlink()
    for name, content in wanted.items():
        (folder / name).write_text(content)


if __name__ == "__main__":
    main()
