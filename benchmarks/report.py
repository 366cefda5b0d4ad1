"""How long the site takes in headless Chromium, opened from a file: many models, and ten thousand samples in the explorer.

    python benchmarks/report.py --models 100 --tasks 20 --samples 10000 --out results/report_speed.json

The result folders are made up (every model has every task; one task of one model has the samples, of them traces with a wrong
block). Measured in the page, from the start of the navigation until what is asked for stands in the document and was laid out:
the median, and the worst, of several fresh loads; and the processor time of the page's process, which says what a machine
that is not busy with other work would take.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ct_tasks.contra.scoring import score_trace
from ct_tasks.contra.trace import render
from ct_tasks.contra.tracer import trace_call

PROGRAM = "def f(n):\n    a = n + 1\n    b = a * 2\n    while b > 9:\n        b -= 5\n    return b"
METRICS = (
    "acc",
    "acc_official",
    "rcs",
    "fmt",
    "r_proc",
    "r_res",
    "reward",
    "hack_rate",
    "tokens_out",
    "no_answer",
    "truncated",
    "timeout",
    "harness_error",
)


def make(folder: Path, models: int, tasks: int, samples: int) -> None:
    """Result folders as lm_eval writes them."""
    draw = random.Random(0)
    for m in range(models):
        place = folder / f"m{m}"
        place.mkdir(parents=True)
        names = [f"task_{t}" for t in range(tasks)]
        results = {t: {**{f"{k},score": draw.random() for k in METRICS}, "acc_stderr,score": 0.01} for t in names}
        data = {"results": results, "configs": {t: {"metadata": {"ct_options": {"paradigm": "contra"}, "stage": ("base", "sft", "grpo")[m % 3]}} for t in names}, "n-samples": {t: {"effective": 800} for t in names},
                "model_name": f"organisation/a-model-with-a-long-name-{m // 3}-7b-instruct", "date": 1.0 + m, "higher_is_better": {t: {"acc": True, "rcs": True} for t in names}}  # fmt: skip
        (place / "results_x.json").write_text(json.dumps(data))
    truth = trace_call(PROGRAM, "f(4)")
    texts = [
        render(truth),
        render(truth).replace("'b': 10", "'b': 11"),
        render(truth).replace("== 5", "== 6"),
        "no idea",
    ]
    scores = [score_trace(t, truth) for t in texts]
    with (folder / "m0" / "samples_task_0_x.jsonl").open("w") as file:
        for i in range(samples):
            text, score = texts[i % len(texts)], scores[i % len(texts)]
            verdict = {
                "acc": score.answer_right,
                "status": "right" if score.answer_right else "wrong" if score.answer else "no_answer",
                "answer": score.answer,
                "rcs": score.rcs,
                "r_proc": score.r_proc,
                "reward": score.reward,
                "hack": float(score.hack),
                "detail": {"trace": score.to_json()},
            }
            row = {
                "doc_id": i,
                "doc": {"id": f"sample_{i}", "group": f"g{i // 3}"},
                "target": "5",
                "arguments": {"gen_args_0": {"arg_0": "What does f(4) return?\n" + PROGRAM * 8}},
                "resps": [[text]],
                "filtered_resps": [[json.dumps(verdict)]],
            }
            file.write(json.dumps(row) + "\n")


def browser(profile: str) -> Any:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = next(
        p for n in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(n))
    )
    for flag in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_window_size(1300, 900)
    return driver


def cpu(driver: Any) -> float:
    """Milliseconds of processor time that the page's process has used: what a busy machine does not change."""
    driver.execute_cdp_cmd("Performance.enable", {})
    metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return 1000 * float(next(m["value"] for m in metrics if m["name"] == "ProcessTime"))


# Resolves with milliseconds since the navigation began (or since the call, for a step within the page).
# The expressions are pasted in: the page's own policy forbids eval.
WAIT = """const done = arguments[0], start = performance.now(); STEP;
(function look() { if (WHAT) { document.body.offsetHeight; done(performance.now() - FROM); } else setTimeout(look, 5); })();"""
OPEN = "document.querySelector('#sample h2')?.textContent.endsWith('/ sample_{}')"
CASES = (
    ("leaderboard from a file", "", "document.querySelectorAll('#board tbody tr').length >= 100", ""),
    (
        "sort by a column",
        None,
        "document.querySelector('#board th[aria-sort]')?.textContent === 'rcs'",
        "[...document.querySelectorAll('#board th button')].find(b => b.textContent === 'rcs').click()",
    ),
    (
        "filter",
        None,
        "document.querySelectorAll('#board tbody tr').length === 60",
        "const f = document.getElementById('board-filter'); f.value = 'name-1-7b'; f.dispatchEvent(new Event('input'))",
    ),
    (
        "a hundred more rows",
        None,
        "document.querySelectorAll('#board tbody tr').length === 200",
        "const g = document.getElementById('board-filter'); g.value = ''; g.dispatchEvent(new Event('input')); document.getElementById('board-more').click()",
    ),
    ("explorer from a file", "#samples", OPEN.format(0), ""),
    (
        "next sample by keyboard",
        None,
        OPEN.format(1),
        "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'j'}))",
    ),
    (
        "last sample by keyboard",
        None,
        OPEN.format("{last}"),
        "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'End'}))",
    ),
    (
        "search",
        None,
        "document.getElementById('sample-count').textContent.startsWith('1 of')",
        "const s = document.getElementById('sample-search'); s.value = 'sample_{last}'; s.dispatchEvent(new Event('input'))",
    ),
    ("deep link to the last sample", "#samples?run=r0&task=task_0&id=sample_{last}", OPEN.format("{last}"), ""),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--tasks", type=int, default=20)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--loads", type=int, default=5)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    last = str(args.samples - 1)
    with tempfile.TemporaryDirectory() as place:
        runs, site = Path(place) / "runs", Path(place) / "site"
        make(runs, args.models, args.tasks, args.samples)
        start = time.time()
        subprocess.run(
            [sys.executable, "-m", "ct_tasks", "report", str(runs), "--out", str(site)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        built = time.time() - start
        times: dict[str, list[float]] = {name: [] for name, *_ in CASES}
        spent: dict[str, list[float]] = {name: [] for name, *_ in CASES}
        for number in range(args.loads):
            driver: Any = None
            for name, address, what, step in CASES:
                if address is not None:  # a browser of its own, so that its page's process has done nothing before
                    if driver:
                        driver.quit()
                    driver = browser(f"{place}/profile{number}{len(times[name])}{name[:5]}")
                    driver.set_script_timeout(60)
                    driver.get(f"file://{site}/index.html" + address.replace("{last}", last))
                script = WAIT.replace("STEP", step).replace("WHAT", what).replace("FROM", "start" if step else "0")
                before = cpu(driver)
                times[name].append(driver.execute_async_script(script.replace("{last}", last)))
                after = cpu(driver)
                spent[name].append(after - before if address is None else after)
            driver.quit()
        sizes = {p.name: p.stat().st_size for p in sorted((site / "data").glob("*.js"))}
    found = {
        name: {
            "median_ms": round(statistics.median(t)),
            "worst_ms": round(max(t)),
            "median_cpu_ms": round(statistics.median(spent[name])),
        }
        for name, t in times.items()
    }
    report = {
        "command": f"python benchmarks/report.py --models {args.models} --tasks {args.tasks} --samples {args.samples} --loads {args.loads}",
        "date": time.strftime("%Y-%m-%d"), "machine": f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} while measuring, {platform.machine()}", "build_s": round(built, 1),
        "index_kB": round(sizes["index.js"] / 1000), "data_files": len(sizes), "largest_data_file_kB": round(max(sizes.values()) / 1000), "times": found,
    }  # fmt: skip
    print(json.dumps(report, indent=1))
    if args.out:
        args.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
