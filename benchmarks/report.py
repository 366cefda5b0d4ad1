"""How long the site takes in headless Chromium, opened from a file: many models, and ten thousand samples in the explorer.

    python benchmarks/report.py --out results/report_speed.json
    python benchmarks/report.py --sizes 7x3x40 --loads 1

A size is models x tasks x samples. The result folders are made up: every model has every task; one task of two models has the
samples, a quarter of them with a wrong block. Measured in the page, from the start of the navigation until what is asked for
stands in the document and was laid out: the median, and the worst, of several fresh loads; and the processor time of the page's
process, which says what a machine that is not busy with other work would take.
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

from ct_tasks.contra.scoring import TraceScore, score_trace
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
    data = json.dumps({"code": PROGRAM, "entry": "f", "call": "f(4)"})
    for m in range(min(2, models)):
        _samples(folder / f"m{m}" / "samples_task_0_x.jsonl", samples, texts, scores, data, m)


def _samples(path: Path, samples: int, texts: list[str], scores: list[TraceScore], data: str, shift: int) -> None:
    with path.open("w") as file:
        for i in range(samples):
            place = (i + shift * (i % 7 == 0)) % len(texts)
            text, score = texts[place], scores[place]
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
                "doc": {"id": f"sample_{i}", "group": f"g{i // 3}", "data": data},
                "target": texts[0],
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


# Resolves with milliseconds since the navigation began (or since the call, for a step within the page); with -1 when what was
# waited for did not come within LIMIT seconds. The expressions are pasted in: the page's own policy forbids eval.
LIMIT = 60
WAIT = """const done = arguments[0], start = performance.now(); STEP;
(function look() { if (WHAT) { document.body.offsetHeight; done(performance.now() - FROM); } else if (performance.now() - start > LIMIT) done(-1); else setTimeout(look, 5); })();"""
OPEN = "document.querySelector('#sample h2')?.textContent.endsWith('/ sample_{}') && document.querySelector('.where, #sample pre')"
ROWS = "document.querySelectorAll('{} tbody tr').length === {}"
KEY = "document.dispatchEvent(new KeyboardEvent('keydown', {{key: '{}'}}))"
STRETCH = 100  # rows that the page draws at once


def _typed(name: str, text: str) -> str:
    return f"const f = document.getElementById('{name}'); f.value = '{text}'; f.dispatchEvent(new Event('input'))"


def cases(models: int, tasks: int, samples: int) -> list[tuple[str, str | None, str, str]]:
    """``(name, address of a fresh load or None, what to wait for, a step before it)`` for reports of this size."""
    last, total = samples - 1, models * tasks
    found: list[tuple[str, str | None, str, str]] = [
        ("front page from a file", "", ROWS.format("#wide", min(STRETCH, models)), ""),
        ("sort by a task", None, "document.querySelector('#wide th[aria-sort] [data-key=task_0]')", "document.querySelector('#wide [data-key=task_0]').click()"),
        ("filter", None, ROWS.format("#wide", min(3, models)), _typed("board-filter", "name-0-7b")),
        ("filter off", None, ROWS.format("#wide", min(STRETCH, models)), _typed("board-filter", "")),
        ("every metric", None, ROWS.format("#metrics", min(STRETCH, total)), "document.getElementById('every').open = true"),
    ]  # fmt: skip
    if total > STRETCH:
        rows = ROWS.format("#metrics", min(2 * STRETCH, total))
        found.append(("a hundred more rows", None, rows, "document.getElementById('every-more').click()"))
    found += [
        ("explorer from a file", "#samples?run=r0&task=task_0&id=sample_0", OPEN.format(0), ""),
        ("next sample by keyboard", None, OPEN.format(min(1, last)), KEY.format("j")),
        ("next block by keyboard", None, "document.querySelector('.where')?.textContent.startsWith('Block 3')", KEY.format("ArrowRight")),
        ("last sample by keyboard", None, OPEN.format(last), KEY.format("End")),
        ("search", None, "document.getElementById('sample-count').textContent.startsWith('1 of')", _typed("sample-search", f"sample_{last}")),
        ("deep link to the last sample", f"#samples?run=r0&task=task_0&id=sample_{last}", OPEN.format(last), ""),
        ("failure atlas", "#atlas", "document.querySelectorAll('#atlas-table tbody tr').length", ""),
    ]  # fmt: skip
    if samples < 2:  # one sample is right in every block: there is no next one, and it opens at its first block
        found = [c for c in found if c[0] != "next block by keyboard"]
    if models > 1:
        found.append(("compare two runs", "#compare?a=r0&b=r1", ROWS.format("#pair-rows", min(200, samples)), ""))
    return found


def measure(models: int, tasks: int, samples: int, loads: int, place: Path) -> dict[str, Any]:
    """One size. Raises ``RuntimeError`` naming the case whose page never came."""
    runs, site = place / "runs", place / "site"
    make(runs, models, tasks, samples)
    start = time.time()
    command = [sys.executable, "-m", "ct_tasks", "report", str(runs), "--out", str(site)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    built = time.time() - start
    wanted = cases(models, tasks, samples)
    times: dict[str, list[float]] = {name: [] for name, *_ in wanted}
    spent: dict[str, list[float]] = {name: [] for name, *_ in wanted}
    for number in range(loads):
        driver: Any = None
        try:
            for order, (name, address, what, step) in enumerate(wanted):
                if address is not None:  # a browser of its own, so that its page's process has done nothing before
                    if driver:
                        driver.quit()
                    driver = browser(f"{place}/profile{number}-{order}")
                    driver.set_script_timeout(LIMIT + 30)
                    driver.get(f"file://{site}/index.html{address}")
                script = WAIT.replace("LIMIT", str(1000 * LIMIT)).replace("STEP", step).replace("WHAT", what)
                before = cpu(driver)
                took = driver.execute_async_script(script.replace("FROM", "start" if step else "0"))
                if took < 0:
                    raise RuntimeError(f"{name}: not there after {LIMIT} s with {models} models, {tasks} tasks and {samples} samples")
                times[name].append(took)
                spent[name].append(cpu(driver) - (before if address is None else 0))
        finally:
            if driver:
                driver.quit()
    sizes = {p.name: p.stat().st_size for p in sorted((site / "data").glob("*.js"))}
    return {
        "models": models, "tasks": tasks, "samples": samples, "build_s": round(built, 1), "index_kB": round(sizes["index.js"] / 1000),
        "data_files": len(sizes), "largest_data_file_kB": round(max(sizes.values()) / 1000),
        "times": {name: {"median_ms": round(statistics.median(t)), "worst_ms": round(max(t)), "median_cpu_ms": round(statistics.median(spent[name]))} for name, t in times.items()},
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="7x3x40,30x10x1000,100x20x10000", help="models x tasks x samples, by commas")
    parser.add_argument("--loads", type=int, default=5)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    found = []
    for size in args.sizes.split(","):
        try:
            models, tasks, samples = (int(n) for n in size.split("x"))
            if min(models, tasks, samples) < 1:
                raise ValueError
        except ValueError:
            parser.error(f"--sizes {size}: give models x tasks x samples, each at least 1, such as 100x20x10000")
        with tempfile.TemporaryDirectory() as place:
            found.append(measure(models, tasks, samples, args.loads, Path(place)))
    report = {
        "command": f"python benchmarks/report.py --sizes {args.sizes} --loads {args.loads}", "date": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} while measuring, {platform.machine()}", "sizes": found,
    }  # fmt: skip
    print(json.dumps(report, indent=1))
    if args.out:
        args.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
