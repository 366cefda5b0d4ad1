"""Make the pictures of docs/reports.md: python docs/pictures/make.py. Needs chromium, chromedriver and pip install -e '.[dev]'.

The runs are made up and named so: gold traces of the bundled ct_mini with errors planted by a seeded draw, scored by the real
scorer. They show what the pages look like, not what any model can do.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ct_tasks.benchmarks import registry
from ct_tasks.benchmarks.base import Answer
from ct_tasks.lm_eval import metrics
from ct_tasks.options import TaskOptions

HERE = Path(__file__).parent
# name, paradigm, chances of a wrong variable, of a wrong answer, of a reply that is cut
RUNS = (
    ("made-up-before/final", "contra", 0.5, 0.3, 0.1),
    ("made-up-after/final", "contra", 0.15, 0.1, 0.03),
    ("made-up-lucky", "contra", 0.8, 0.15, 0.05),
    ("made-up-before/final", "direct", 0.0, 0.5, 0.1),
)
SHOTS = (
    ("leaderboard", "#board", 1400, 1230),
    ("explorer", "#samples?run=r0&task=ct_mini&id=bubble_passes/1", 1400, 800),
    ("compare", "#compare?a=r0&b=r1", 1400, 800),
    ("atlas", "#atlas", 1000, 900),
    ("leaderboard-phone", "#board", 390, 1500),
    ("explorer-phone", "#samples?run=r0&task=ct_mini&id=bubble_passes/1", 390, 1500),
)


def reply(gold: str, draw: random.Random, variable: float, answer: float, cut: float) -> str:
    """A gold reply with a digit of one LOCALS line changed, another answer, or without its second half."""
    lines = gold.split("\n")
    spots = [i for i, line in enumerate(lines) if line.startswith("{") and any(c.isdigit() for c in line)]
    if spots and draw.random() < variable:
        spot = draw.choice(spots)
        digits = [k for k, c in enumerate(lines[spot]) if c.isdigit()]
        k = draw.choice(digits)
        lines[spot] = lines[spot][:k] + str((int(lines[spot][k]) + 1) % 10) + lines[spot][k + 1 :]
    text = "\n".join(lines)
    place = text.rfind("== ")
    if draw.random() < answer and place >= 0:
        text = f"{text[: place + 3]}[1, 2]{text[text.find(chr(10), place) :]}"
    return text[: len(text) // 2] if draw.random() < cut else text


def make(folder: Path, number: int, model: str, paradigm: str, chances: tuple[float, float, float]) -> None:
    task, options = registry.get("ct_mini"), TaskOptions(paradigm=paradigm)
    items, draw = task.items(options), random.Random(number)
    texts = [reply(task.gold(item, options), draw, *chances) for item in items]
    scores = task.score([Answer(i, t) for i, t in zip(items, texts, strict=True)], options)
    rows: list[dict[str, Any]] = []
    for place, (item, text, score) in enumerate(zip(items, texts, scores, strict=True)):
        verdict = score.to_json()
        numbers = metrics.of_document([verdict], 1)
        rows.append(
            {
                "doc_id": place,
                "doc": {"id": item.id, "group": item.group, "data": json.dumps(dict(item.data))},
                "target": task.gold(item, options),
                "arguments": {"gen_args_0": {"arg_0": task.prompt(item, options, chat=True)}},
                "resps": [[text]],
                "filtered_resps": [[json.dumps(verdict)]],
                **numbers,
            }
        )
    folder.mkdir()
    (folder / "samples_ct_mini_1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    names = [m["metric"] for m in metrics.declared(task.domain, 1) if m["metric"] in rows[0]]
    results = {f"{m},score": metrics.mean([r[m] for r in rows if m in r]) for m in names}
    config = {"metadata": {"ct_options": options.to_json()}}
    data = {
        "results": {"ct_mini": results},
        "configs": {"ct_mini": config},
        "n-samples": {"ct_mini": {"effective": len(rows)}},
        "model_name": model,
        "date": number,
    }
    (folder / "results_1.json").write_text(json.dumps(data))


def shoot(site: Path, profile: str) -> None:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("chromium-browser") or ""
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    for name, address, width, height in SHOTS:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get("about:blank")
        driver.get(f"file://{site}/index.html{address}")
        time.sleep(2)
        driver.save_screenshot(str(HERE / f"{name}.png"))
    driver.quit()


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        runs, site = Path(place) / "runs", Path(place) / "site"
        runs.mkdir()
        for number, (model, paradigm, *chances) in enumerate(RUNS, 1):
            make(runs / str(number), number, model, paradigm, tuple(chances))  # type: ignore[arg-type]
        subprocess.run([sys.executable, "-m", "ct_tasks", "report", str(runs), "--out", str(site)], check=True)
        shutil.copy(site / "plots" / "first-error.png", HERE / "plots.png")
        shoot(site, f"{place}/profile")


if __name__ == "__main__":
    main()
