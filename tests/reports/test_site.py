"""The site in a real browser, opened from a file: load, sort, filter, open, keyboard, deep link, two runs, hostile text."""

import json
import os
import shutil
from pathlib import Path

import pytest

from ct_tasks.cli.main import main
from ct_tasks.contra.scoring import score_trace
from ct_tasks.contra.trace import render
from ct_tasks.contra.tracer import trace_call

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOSTILE = {
    "script": "</script><script>document.title='owned'</script>", "image": "<img src=x onerror=\"document.title='owned'\">", "svg": "<svg onload=\"document.title='owned'\">",
    "link": "<a href=\"javascript:document.title='owned'\">x</a>", "comment": "<!-- <script>", "override": "\u202etxet desrever\u202c", "nul": "a\x00b", "ansi": "\x1b[31mred\x1b[0m\x1b]0;owned\x07",
    "long line": "x" * 100_000, "many lines": "y\n" * 20_000, "separators": "a\u2028b\u2029c", "surrogate": "\\ud800", "template": "${document.title='owned'}", "entities": "&lt;b&gt; &#0;",
}
TRUTH = trace_call("def f(n):\n    a = n + 1\n    b = a * 2\n    while b > 9:\n        b -= 5\n    return b", "f(4)")


def write_run(folder: Path, model: str, paradigm: str, change: str, n: int = 30, stage: str = "") -> None:
    folder.mkdir(parents=True)
    rows = []
    for i in range(n):
        text = render(TRUTH)
        if i % 3 == 1:
            text = text.replace("'b': 10", "'b': 11")
        if i % 3 == 2:
            text = text.replace("== 5", "== 6") if change == "answer" else text
        reply = list(HOSTILE.values())[i % len(HOSTILE)] if i >= n - len(HOSTILE) else text
        score = score_trace(reply, TRUTH)
        verdict = {"acc": score.answer_right, "status": "right" if score.answer_right else "wrong" if score.answer else "no_answer", "answer": reply[:500], "reason": reply[:50], "rcs": score.rcs, "r_proc": score.r_proc,
                   "reward": score.reward, "hack": float(score.hack), "detail": {"trace": score.to_json()}}
        rows.append({"doc_id": i, "doc": {"id": f"s{i}", "group": f"g{i // 2}", "data": "{}"}, "target": "gold", "arguments": {"gen_args_0": {"arg_0": "prompt " + reply[:100], "arg_1": {}}}, "resps": [[reply]], "filtered_resps": [[json.dumps(verdict)]], "acc": verdict["acc"]})
    (folder / "samples_ct_mini_x.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    acc = sum(r["acc"] for r in rows) / n
    results = {"results": {"ct_mini": {"acc,score": acc, "acc_stderr,score": 0.01, "rcs,score": 0.5}, "plain_task": {"exact_match,none": 0.25}}, "configs": {"ct_mini": {"metadata": {"ct_options": {"paradigm": paradigm}, "stage": stage}}, "plain_task": {}},
               "n-samples": {"ct_mini": {"effective": n}, "plain_task": {"effective": 4}}, "model_name": model, "date": 1.0 + len(model), "total_evaluation_time_seconds": "12.5", "higher_is_better": {"ct_mini": {"acc": True, "rcs": True}}}
    (folder / "results_x.json").write_text(json.dumps(results))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    root = tmp_path_factory.mktemp("site")
    write_run(root / "a", "model-one", "contra", "answer")
    write_run(root / "b", "a-rather-long-model-name-with-many-parts-7b-instruct", "direct", "none")
    write_run(root / "c", "<img src=x onerror=\"document.title='owned'\">\u202e", "direct", "none", stage="sft")
    path = root / "c" / "results_x.json"  # dated problems, and languages for the heat map
    data = json.loads(path.read_text())
    data["results"] |= {f"ct_cruxeval_x_{lang}": {"acc,score": 0.25 + 0.5 * i} for i, lang in enumerate(("cpp", "rs"))}
    path.write_text(json.dumps(data))
    samples = root / "c" / "samples_ct_mini_x.jsonl"
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    for i, row in enumerate(rows):
        row["doc"]["contest_date"] = f"2023-{1 + i % 4:02d}-15T00:00:00"
    samples.write_text("".join(json.dumps(r) + "\n" for r in rows))
    (root / "train" / "with-dbs").mkdir(parents=True)
    rollouts = [{"step": s, "group": 0, "half": h, "reward": s / 4 + (h == "dbs")} for s in range(3) for h in ("regular", "dbs")]
    (root / "train" / "with-dbs" / "rollouts.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rollouts) + "torn")
    (root / "broken").mkdir()
    (root / "broken" / "results_y.json").write_text('{"results": {')
    assert main(["report", str(root), "--out", str(root / "out")]) == 0
    return root / "out"


@pytest.fixture(scope="module")
def browser(tmp_path_factory, request):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    chromium = request.getfixturevalue("chromium")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    yield driver
    driver.quit()


def wait(browser, script, *arguments):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, 20).until(lambda b: b.execute_script(f"return {script}", *arguments))


def quiet(browser):
    """No console message, nothing asked of anything but files."""
    assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []
    urls = [m["params"]["request"]["url"] for e in browser.get_log("performance") if (m := json.loads(e["message"])["message"])["method"] == "Network.requestWillBeSent"]
    assert all(u.startswith(("file:", "data:", "chrome:")) for u in urls), urls


@pytest.mark.parametrize("size", [(1300, 900), (390, 800)])
def test_leaderboard(browser, site, size):
    browser.set_window_size(*size)
    browser.get(f"file://{site}/index.html")
    assert wait(browser, "document.querySelectorAll('#board tbody tr').length") == 9
    values = "[...document.querySelectorAll('#board tbody tr')].map(r => r.children[3].textContent)"
    browser.execute_script("[...document.querySelectorAll('#board th button')].find(b => b.textContent === 'accuracy').click()")
    up = [float(v) for v in wait(browser, values)]
    assert up == sorted(up)
    browser.execute_script("[...document.querySelectorAll('#board th button')].find(b => b.textContent === 'accuracy').click()")
    down = [float(v) for v in browser.execute_script(f"return {values}")]
    assert down == sorted(down, reverse=True) != up
    browser.find_element("id", "board-filter").send_keys("model-one plain")
    assert wait(browser, "document.querySelectorAll('#board tbody tr').length === 1")
    assert "12.5" not in browser.page_source
    assert "results_y.json is left out" in browser.execute_script("return document.getElementById('problems').textContent")
    browser.save_screenshot(str(site / f"board-{size[0]}.png"))
    quiet(browser)


@pytest.mark.parametrize("size", [(1300, 900), (390, 800)])
def test_explorer(browser, site, size):
    browser.set_window_size(*size)
    browser.get("about:blank")
    browser.get(f"file://{site}/index.html#samples?run=r0&task=ct_mini&id=s1")
    assert wait(browser, "document.querySelector('#sample h2')?.textContent") == "ct_mini / s1"
    assert browser.execute_script("return [...document.querySelectorAll('.block')].map(b => b.classList[1])") == ["right", "wrong", "after"]
    assert "wrong: b" in browser.execute_script("return document.querySelector('.block.wrong').textContent")
    body = browser.find_element("tag name", "body")
    body.send_keys("j")
    assert wait(browser, "document.querySelector('#sample h2').textContent === 'ct_mini / s2'")
    assert "id=s2" in browser.current_url
    body.send_keys("k")
    wait(browser, "document.querySelector('#sample h2').textContent === 'ct_mini / s1'")
    browser.execute_script("const s = document.getElementById('sample-show'); s.value = 'hack'; s.dispatchEvent(new Event('change'))")
    assert wait(browser, "document.getElementById('sample-count').textContent.startsWith('5 of 30')")
    browser.execute_script("const s = document.getElementById('sample-show'); s.value = ''; s.dispatchEvent(new Event('change'))")
    browser.execute_script("const s = document.getElementById('sample-other'); s.value = 'r1'; s.dispatchEvent(new Event('change'))")
    assert wait(browser, "document.querySelectorAll('#sample .beside > div').length === 2")
    browser.save_screenshot(str(site / f"explorer-{size[0]}.png"))
    quiet(browser)


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_is_shown_as_text(browser, site, kind):
    number = 30 - len(HOSTILE) + (list(HOSTILE).index(kind) - (30 - len(HOSTILE))) % len(HOSTILE)
    browser.get("about:blank")
    browser.get(f"file://{site}/index.html#samples?run=r0&task=ct_mini&id=s{number}")
    wait(browser, f"document.querySelector('#sample h2')?.textContent === 'ct_mini / s{number}'")
    assert browser.title == "CodeThinker-eval report"
    shown = browser.execute_script("return [...document.querySelectorAll('#sample pre')].map(p => p.textContent).join('\\n')")
    expected = HOSTILE[kind][:40].replace("\x00", "\\u0000").replace("\x1b", "\\u001b").replace("\u202e", "\\u202e").replace("\u202c", "\\u202c").replace("\x07", "\\u0007")
    assert expected in shown
    assert browser.execute_script("return document.querySelectorAll('#sample script, #sample img, #sample svg, #sample a').length") == 0
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth + 1")
    quiet(browser)


@pytest.mark.parametrize("view", ["#board", "#plots", "#samples?run=r0&task=ct_mini&id=s1&other=r1"])
def test_accessibility(browser, site, view):
    axe = Path(os.environ.get("CT_AXE", "node_modules/axe-core/axe.min.js"))
    if not axe.is_file():
        from conftest import missing

        missing("axe-core is not installed (npm install axe-core, or CT_AXE)")
    browser.set_window_size(1300, 900)
    browser.get("about:blank")
    browser.get(f"file://{site}/index.html{view}")
    wait(browser, "document.querySelectorAll('#board tbody tr, #sample h2, #plot-list figure').length")
    browser.execute_script(axe.read_text())
    found = browser.execute_async_script("const done = arguments[0]; axe.run().then(r => done(r.violations.map(v => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 120)])))")
    browser.get_log("browser")  # axe itself asks for the style sheet, which the page's policy forbids
    browser.get_log("performance")
    assert found == []


def choose(browser, name, value):
    browser.execute_script("const [n, v] = arguments, s = document.getElementById(n); s.value = v; s.dispatchEvent(new Event('change'))", name, value)


def test_columns_baseline_interval_and_window(browser, site):
    browser.set_window_size(1300, 900)
    browser.get("about:blank")
    browser.get(f"file://{site}/index.html")
    cell = "[...document.querySelectorAll('#board tbody tr')].find(r => r.children[0].textContent.startsWith(arguments[0]) && r.children[1].textContent === 'ct_mini')?.children[arguments[1]]"
    wait(browser, cell, "<img", 0)
    assert browser.execute_script(f"return {cell}.className", "model-one", 3) == "second"
    assert browser.execute_script(f"return {cell}.textContent", "<img", 2) == "30"
    clustered = browser.execute_script(f"return {cell}.textContent", "model-one", 4)
    choose(browser, "board-interval", "wilson")
    assert clustered.rstrip(" *") != browser.execute_script(f"return {cell}.textContent", "model-one", 4)
    choose(browser, "board-from", "2023-02")
    choose(browser, "board-to", "2023-02")
    assert browser.execute_script(f"return {cell}.textContent", "<img", 2) == "8"
    assert browser.execute_script(f"return {cell}.textContent", "model-one", 2) == "30"  # its problems have no date
    choose(browser, "board-from", "")
    choose(browser, "board-to", "")
    choose(browser, "board-baseline", browser.execute_script("return document.getElementById('board-baseline').options[1].value"))
    heads = browser.execute_script("return [...document.querySelectorAll('#board th')].map(t => t.textContent)")
    assert "Δ" in heads
    browser.execute_script("for (const b of document.querySelectorAll('#board-columns input')) if (b.value === 'dated problems') b.click()")
    assert "2023-01-15 – 2023-04-15" in browser.execute_script("return document.getElementById('board').textContent")
    assert browser.title == "CodeThinker-eval report"
    assert "CodeReasoner" in browser.execute_script("return document.getElementById('paper').textContent")
    quiet(browser)


@pytest.mark.parametrize("size", [(1300, 900), (390, 800)])
def test_plots(browser, site, size):
    browser.set_window_size(*size)
    browser.get("about:blank")
    browser.get(f"file://{site}/index.html#plots")
    wait(browser, "[...document.querySelectorAll('#plot-list img')].length && [...document.querySelectorAll('#plot-list img')].every(i => i.complete)")
    found = browser.execute_script("return [...document.querySelectorAll('#plot-list img')].map(i => [i.getAttribute('src'), i.naturalWidth > 0, i.alt.length > 20])")
    assert {name for name, *_ in found} == {f"plots/{n}.svg" for n in ("rollouts", "complexity", "blocks", "months", "first-error", "languages")} - {"plots/complexity.svg", "plots/blocks.svg"}
    assert all(loaded and described for _, loaded, described in found)
    assert all((site / name.replace(".svg", ".png")).read_bytes().startswith(b"\x89PNG") for name, *_ in found)
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth + 1")
    browser.save_screenshot(str(site / f"plots-{size[0]}.png"))
    quiet(browser)


def test_what_changed_between_two_runs(browser, site):
    browser.set_window_size(1300, 900)
    browser.get("about:blank")
    browser.get(f"file://{site}/index.html#samples?run=r1&other=r0&task=ct_mini&show=lost")
    first, second = (r["id"] for r in browser_runs(site)[:2])
    assert (first, second) == ("r0", "r1")
    assert wait(browser, "document.getElementById('sample-count').textContent") == "5 of 30 samples; both runs have 30: better here 5, better there 0"
    assert wait(browser, "document.querySelectorAll('#sample .beside > div').length === 2")
    browser.find_element("tag name", "body").send_keys("j")
    wait(browser, "document.querySelector('#sample h2').textContent === 'ct_mini / s5'")
    assert f"run={browser_runs(site)[1]['key']}" in browser.current_url
    link = browser.current_url
    browser.get("about:blank")
    browser.get(link)  # what a reader passes on opens the same sample beside the same run
    assert wait(browser, "document.querySelector('#sample h2')?.textContent === 'ct_mini / s5'")
    assert wait(browser, "document.querySelectorAll('#sample .beside > div').length === 2")
    quiet(browser)


def browser_runs(site):
    text = (site / "data" / "index.js").read_text()
    return json.loads(text[text.index("{") : text.rindex(")")])["runs"]


def test_variables_stand_beside_the_true_ones(browser, site):
    browser.get("about:blank")
    browser.get(f"file://{site}/index.html#samples?run=r0&task=ct_mini&id=s1")
    rows = wait(browser, "[...document.querySelectorAll('.block.wrong .vars tbody tr')].map(r => [r.className, ...[...r.children].map(c => c.textContent)])")
    assert ["differs", "b ✗", "11", "10"] in rows
    assert sum(row[0] == "differs" for row in rows) == 1
    assert browser.execute_script("return document.querySelectorAll('.block.after .differs').length") == 0
    choose(browser, "sample-show", "")
    browser.execute_script("const b = document.getElementById('sample-block'); b.value = '2'; b.dispatchEvent(new Event('input'))")
    assert wait(browser, "document.getElementById('sample-count').textContent").split(" of ")[0].isdigit()


def test_a_missing_data_file_is_a_sentence(browser, site, tmp_path):
    shutil.copytree(site, tmp_path / "copy")
    for path in (tmp_path / "copy" / "data").glob("r0-0-[0-9]*.js"):
        path.unlink()
    browser.get("about:blank")
    browser.get(f"file://{tmp_path}/copy/index.html#samples?run=r0&task=ct_mini&id=s1")
    assert "is missing" in wait(browser, "document.getElementById('sample').textContent")
    browser.get_log("browser")
    browser.get_log("performance")


def test_a_long_leaderboard_and_a_long_list_are_drawn_in_stretches(browser, tmp_path):
    write_run(tmp_path / "a", "m", "contra", "answer", n=700)
    path = tmp_path / "a" / "results_x.json"
    data = json.loads(path.read_text())
    data["results"] |= {f"t{i}": {"acc,none": i / 200} for i in range(150)}
    path.write_text(json.dumps(data))
    assert main(["report", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    browser.get("about:blank")
    browser.get(f"file://{tmp_path}/out/index.html")
    assert wait(browser, "document.querySelectorAll('#board tbody tr').length") == 100
    browser.find_element("id", "board-more").click()
    assert wait(browser, "document.querySelectorAll('#board tbody tr').length") == 152
    assert not browser.find_element("id", "board-more").is_displayed()
    browser.get(f"file://{tmp_path}/out/index.html#samples?run=r0&task=ct_mini&id=s600")
    assert wait(browser, "document.querySelector('#sample h2')?.textContent") == "ct_mini / s600"
    assert browser.execute_script("return document.querySelectorAll('#sample-list button[data-id]').length") < 501
    assert browser.execute_script("return document.querySelector('#sample-list [aria-current]').dataset.id") == "s600"
    browser.find_element("tag name", "body").send_keys("\ue011")  # Home
    wait(browser, "document.querySelector('#sample h2').textContent === 'ct_mini / s0'")
    assert browser.execute_script("return document.querySelector('#sample-list [aria-current]').dataset.id") == "s0"
    quiet(browser)
