"""The site in a real browser, opened from a file: load, sort, filter, open, keyboard, deep link, two runs, hostile text."""

import itertools
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
PROGRAM = "def f(n):\n    a = n + 1\n    b = a * 2\n    while b > 9:\n        b -= 5\n    return b"
TRUTH = trace_call(PROGRAM, "f(4)")


def write_run(folder: Path, model: str, paradigm: str, change: str, n: int = 30, stage: str = "", **extra: object) -> None:
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
        verdict = {"acc": score.answer_right, "status": "right" if score.answer_right else "wrong" if score.answer else "no_answer", "answer": reply[:500] if score.answer is None else score.answer, "acc_flexible": score.answer_right, "reason": reply[:50], "rcs": score.rcs, "r_proc": score.r_proc,
                   "reward": score.reward, "hack": float(score.hack), "detail": {"trace": score.to_json()}}
        rows.append({"doc_id": i, "doc": {"id": f"s{i}", "group": f"g{i // 2}", "data": json.dumps({"code": PROGRAM, "entry": "f", "call": "f(4)", **extra})}, "target": render(TRUTH), "arguments": {"gen_args_0": {"arg_0": "prompt " + reply[:100], "arg_1": {}}}, "resps": [[reply]], "filtered_resps": [[json.dumps(verdict)]], "acc": verdict["acc"]})
    (folder / "samples_ct_mini_x.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    acc = sum(r["acc"] for r in rows) / n
    results = {"results": {"ct_mini": {"acc,score": acc, "acc_stderr,score": 0.01, "rcs,score": 0.5, **{f"{name},score": sum(json.loads(r["filtered_resps"][0][0])[key] == value for r in rows) / n for name, key, value in (("hack_rate", "hack", 1.0), ("no_answer", "status", "no_answer"), ("acc_flexible", "acc_flexible", True))}}, "plain_task": {"exact_match,none": 0.25}}, "configs": {"ct_mini": {"metadata": {"ct_options": {"paradigm": paradigm}, "stage": stage}}, "plain_task": {}},
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


SIZES = [(1400, 900), (390, 800)]


def open_at(browser, site, address="", size=(1400, 900), dark=False):
    """The page, fresh, in a window that is exactly so large."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    browser.get("about:blank")
    browser.get(f"file://{site}/index.html{address}")


def texts(browser, selector):
    return browser.execute_script("return [...document.querySelectorAll(arguments[0])].map(n => n.textContent)", selector)


@pytest.mark.parametrize("size", SIZES)
def test_the_table_of_runs_and_tasks(browser, site, size):
    open_at(browser, site, size=size)
    assert wait(browser, "document.querySelectorAll('#wide tbody tr').length") == 3
    assert texts(browser, "#wide thead button") == ["run", "average", "mini", "plain_task", "cruxeval_x_cpp", "cruxeval_x_rs", "cruxeval_x (2 languages)"]
    # the run and its average are in sight without scrolling sideways
    assert browser.execute_script("return document.querySelector('#wide tbody td').getBoundingClientRect().right <= innerWidth")
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    column = "[...document.querySelectorAll('#wide tbody tr')].map(r => parseFloat(r.children[2].textContent))"
    click = "document.querySelector('#wide [data-key=ct_mini]').click()"
    browser.execute_script(click)
    down = wait(browser, column)
    browser.execute_script(click)
    up = browser.execute_script(f"return {column}")
    assert up == sorted(down) == down[::-1]
    assert browser.execute_script("return document.querySelector('#wide th[aria-sort]').textContent") == "mini"
    assert browser.execute_script("return getComputedStyle(document.querySelector('#wide th[aria-sort] button'), '::after').content") == '" ▲"'
    # a tip that the keyboard reaches as well
    browser.execute_script("document.querySelector('#wide [data-key=average]').focus()")
    assert "each counting the same" in wait(browser, "!document.getElementById('tip').hidden && document.getElementById('tip').textContent")
    browser.find_element("id", "board-filter").send_keys("model-one plain")
    assert wait(browser, "document.querySelectorAll('#wide tbody tr').length === 1")
    assert "results_y.json is left out" in browser.execute_script("return document.getElementById('problems').textContent")
    assert browser.title == "CodeThinker-eval report"
    quiet(browser)


def test_the_average_is_over_all_tasks_or_says_over_how_many(browser, site):
    open_at(browser, site)
    wait(browser, "document.querySelectorAll('#wide tbody tr').length")
    first = {r[0]: r[1] for r in browser.execute_script("return [...document.querySelectorAll('#wide tbody tr')].map(r => [r.children[0].textContent, r.children[1].textContent])")}
    image = next(v for k, v in first.items() if k.startswith("<img"))
    assert image == "44.6"  # 53.3, 25, 25 and 75; the average over languages is not counted again
    assert first["model-one · contra"] == "30.8 (2/4)"  # 36.7 and 25


def test_three_answers_on_the_front_page(browser, site):
    open_at(browser, site)
    cards = wait(browser, "document.querySelectorAll('.card a').length > 3 && [...document.querySelectorAll('.card')].map(c => c.textContent)")
    assert "are level on the average of 2 tasks: 39.2 %" in cards[0]
    assert "only the first is right in 0, only the second in 0 (p = 1.0): it may be chance." in cards[0]
    assert "plain statement (5 of 32 blocks)" in cards[1]
    assert "while loop" not in cards[1]
    assert cards[2].count("5 right answers with a wrong trace of 30") == 3
    browser.execute_script("[...document.querySelectorAll('.card a')].find(a => a.textContent.includes('wrong trace')).click()")
    assert wait(browser, "document.getElementById('sample-count').textContent").startswith(tuple("0123456789"))
    assert browser.execute_script("return document.getElementById('sample-show').value") == "hack"


def test_charts(browser, site):
    open_at(browser, site)
    wait(browser, "document.querySelector('#dots svg')")
    assert len(texts(browser, "#dots svg a")) == 3
    assert browser.execute_script("return document.querySelectorAll('#dots .prone').length") == 3  # a third of the traces is wrong below a right answer
    told = browser.execute_script("return [...document.querySelectorAll('#bars .bar')].map(b => b.getAttribute('aria-label'))")
    assert len(told) == 3
    assert all("right" in t and "no answer" in t for t in told)
    widths = browser.execute_script("return [...document.querySelectorAll('#bars .bar')].map(b => [...b.children].reduce((s, p) => s + parseFloat(p.style.width), 0))")
    assert widths == pytest.approx([100] * 3, abs=0.01)
    choose(browser, "board-metric", "rcs")
    assert "50.0" in texts(browser, "#wide tbody td")[1]


@pytest.mark.parametrize("size", SIZES)
def test_the_viewer_steps_through_the_program(browser, site, size):
    open_at(browser, site, "#samples?run=r0&task=ct_mini&id=s1", size)
    assert wait(browser, "document.querySelector('#sample h2')?.textContent") == "ct_mini / s1"
    # it opens at the first wrong block, answer against gold above it, the whole source with its blocks in the gutter
    assert texts(browser, ".where") == ["Block 2 of 3: first error"]
    assert texts(browser, ".against pre") == ["5", "5"]
    assert texts(browser, ".source button") == ["✓1", "✗2", "·3"]
    assert texts(browser, ".source code") == PROGRAM.split("\n")
    assert texts(browser, ".line.here code") == ["    b = a * 2"]
    variables = "[...document.querySelectorAll('.vars tbody tr')].map(r => [...r.children].map(c => c.textContent))"
    assert ["b", "11", "10", "✗ differs ● new"] in browser.execute_script(f"return {variables}")
    assert ["a", "5", "5", ""] in browser.execute_script(f"return {variables}")
    assert texts(browser, ".differs th") == ["b"]
    body = browser.find_element("tag name", "body")
    body.send_keys("\ue014")  # right arrow
    assert texts(browser, ".where") == ["Block 3 of 3"]
    assert "after the first error" in texts(browser, ".now h3")[0]
    assert texts(browser, ".differs th") == []  # what follows the first error is not marked
    body.send_keys("\ue012")
    body.send_keys("\ue012")
    assert texts(browser, ".where") == ["Block 1 of 3"]
    browser.execute_script("document.querySelectorAll('.source button')[1].click()")
    assert texts(browser, ".where") == ["Block 2 of 3: first error"]
    assert "ct_mini" in browser.current_url
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    body.send_keys("j")
    assert wait(browser, "document.querySelector('#sample h2').textContent === 'ct_mini / s2'")
    assert "id=s2" in browser.current_url
    body.send_keys("k")
    wait(browser, "document.querySelector('#sample h2').textContent === 'ct_mini / s1'")
    quiet(browser)


def test_the_list_shows_verdict_rcs_and_first_wrong_block(browser, site):
    open_at(browser, site, "#samples?run=r0&task=ct_mini")
    rows = wait(browser, "[...document.querySelectorAll('#sample-list button')].map(b => [...b.children].map(c => c.textContent))")
    assert rows[:3] == [["s0", "right", "RCS 100"], ["s1", "right", "RCS 33 ✗ block 2/3 by luck"], ["s2", "wrong", "RCS 100"]]
    assert wait(browser, "document.querySelector('#sample h2')?.textContent") == "ct_mini / s1"  # the first with an error
    choose(browser, "sample-show", "hack")
    assert wait(browser, "document.getElementById('sample-count').textContent.startsWith('5 of 30')")
    choose(browser, "sample-show", "")
    kinds = browser.execute_script("return [...document.getElementById('sample-kind').options].map(o => o.textContent)")
    assert kinds == ["anything", "plain statement", "block missing"]
    choose(browser, "sample-kind", browser.execute_script("return document.getElementById('sample-kind').options[1].value"))
    assert wait(browser, "document.getElementById('sample-count').textContent.startsWith('5 of 30')")
    browser.execute_script("const b = document.getElementById('sample-block'); b.value = '1'; b.dispatchEvent(new Event('input'))")
    assert wait(browser, "document.getElementById('sample-count').textContent.startsWith('0 of 30')")


def test_compare_two_runs(browser, site):
    runs = browser_runs(site)
    open_at(browser, site, f"#compare?a={runs[0]['key']}&b={runs[1]['key']}")
    cells = wait(browser, "document.querySelectorAll('#pairs tbody tr').length && [...document.querySelectorAll('#pairs tbody tr')].map(r => [...r.children].map(c => c.textContent))")
    assert [row[:4] + row[6:] for row in cells] == [["ct_mini", "30", "36.7", "53.3", "5", "0", "0.063", "0.063"]]
    assert len(texts(browser, "#pair-rows tbody tr")) == 30
    choose(browser, "compare-rows", "won")
    assert wait(browser, "document.querySelectorAll('#pair-rows tbody tr').length === 5")
    browser.execute_script("document.querySelector('#pair-rows a').click()")
    wait(browser, "document.querySelectorAll('#sample .beside > div').length === 2")
    assert f"other={runs[1]['key']}" in browser.current_url
    quiet(browser)


def test_the_tests_in_the_page_are_those_of_the_command_line(browser, site):
    from ct_tasks.reports.statistics import holm, mcnemar, two_digits, wilson

    open_at(browser, site)
    wait(browser, "window.CT || document.querySelectorAll('#wide tbody tr').length")
    for a, b in ((0, 0), (1, 0), (5, 0), (3, 9), (40, 12), (400, 200), (3000, 2000), (900, 0), (5000, 0)):
        assert browser.execute_script("return CT.stats.mcnemar(...arguments)", a, b) == pytest.approx(mcnemar(a, b), rel=1e-9, abs=1e-300)
        assert browser.execute_script("return CT.stats.p2(CT.stats.mcnemar(...arguments))", a, b) == two_digits(mcnemar(a, b))
    assert browser.execute_script("return CT.stats.wilson(7, 30)") == pytest.approx(wilson(7, 30))
    assert browser.execute_script("return CT.stats.holm([0.01, 0.04, 0.03])") == pytest.approx([holm({"a": 0.01, "b": 0.04, "c": 0.03})[k] for k in "abc"])


@pytest.mark.parametrize("size", SIZES)
def test_failure_atlas(browser, site, size):
    open_at(browser, site, "#atlas", size)
    rows = wait(browser, "document.querySelector('#atlas-table') && Object.fromEntries([...document.querySelectorAll('#atlas-table tbody tr')].map(r => [r.children[0].textContent, [...r.children].slice(1).map(c => c.textContent)]))")
    # 16 replies are traces: 16 first blocks and 16 second ones are plain, 5 second ones wrong; 11 reach the loop and get it right
    assert rows["plain statement"][0] == "16 % 5/32"
    assert rows["while loop"][0] == "0 % 0/11"
    assert rows["block missing"][0].endswith("14/57")
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    browser.execute_script("document.querySelector('#atlas-table td a').click()")
    assert wait(browser, "document.getElementById('sample-count').textContent").startswith("5 of 30")
    quiet(browser)


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_is_shown_as_text(browser, site, kind):
    number = 30 - len(HOSTILE) + (list(HOSTILE).index(kind) - (30 - len(HOSTILE))) % len(HOSTILE)
    open_at(browser, site, f"#samples?run=r0&task=ct_mini&id=s{number}")
    wait(browser, f"document.querySelector('#sample h2')?.textContent === 'ct_mini / s{number}'")
    assert browser.title == "CodeThinker-eval report"
    shown = browser.execute_script("return [...document.querySelectorAll('#sample pre')].map(p => p.textContent).join('\\n')")
    expected = HOSTILE[kind][:40].replace("\x00", "\\u0000").replace("\x1b", "\\u001b").replace("\u202e", "\\u202e").replace("\u202c", "\\u202c").replace("\x07", "\\u0007")
    assert expected in shown
    assert browser.execute_script("return document.querySelectorAll('#sample script, #sample img, #sample svg, #sample a').length") == 0
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth + 1")
    quiet(browser)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("view", ["#board", "#plots", "#compare", "#atlas", "#samples?run=r0&task=ct_mini&id=s1&other=r1"])
def test_accessibility(browser, site, view, dark):
    axe = Path(os.environ.get("CT_AXE", "node_modules/axe-core/axe.min.js"))
    if not axe.is_file():
        from conftest import missing

        missing("axe-core is not installed (npm install axe-core, or CT_AXE)")
    for size in SIZES:
        open_at(browser, site, view, size, dark)
        wait(browser, "document.querySelectorAll('#wide tbody tr, #sample h2, #plot-list figure, #pairs, #atlas-table').length")
        browser.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
        browser.execute_script(axe.read_text())
        found = browser.execute_async_script("const done = arguments[0]; axe.run().then(r => done(r.violations.map(v => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 120)])))")
        browser.get_log("browser")  # axe itself asks for the style sheet, which the page's policy forbids
        browser.get_log("performance")
        assert found == []


def choose(browser, name, value):
    browser.execute_script("const [n, v] = arguments, s = document.getElementById(n); s.value = v; s.dispatchEvent(new Event('change'))", name, value)


def test_every_metric_columns_baseline_interval_and_window(browser, site):
    open_at(browser, site)
    wait(browser, "document.querySelectorAll('#wide tbody tr').length")
    browser.execute_script("document.getElementById('every').open = true")
    wait(browser, "document.querySelectorAll('#metrics tbody tr').length === 9")
    heads = "[...document.querySelectorAll('#metrics th')].map(t => t.textContent)"
    cell = "[...document.querySelectorAll('#metrics tbody tr')].find(r => r.children[0].textContent.startsWith(arguments[0]) && r.children[1].textContent === 'ct_mini')?.children[arguments[1]]"
    assert browser.execute_script(f"return {cell}.className", "model-one", 3) == "second"
    assert browser.execute_script(f"return {cell}.textContent", "<img", 2) == "30"
    clustered = browser.execute_script(f"return {cell}.textContent", "model-one", 4)
    choose(browser, "board-interval", "wilson")
    assert clustered.rstrip(" *") != browser.execute_script(f"return {cell}.textContent", "model-one", 4)
    choose(browser, "board-baseline", browser.execute_script("return document.getElementById('board-baseline').options[1].value"))
    assert "Δ" in browser.execute_script(f"return {heads}")
    choose(browser, "board-baseline", "")
    browser.execute_script("for (const b of document.querySelectorAll('#board-columns input')) if (b.value === 'dated problems') b.click()")
    assert "2023-01-15 – 2023-04-15" in browser.execute_script("return document.getElementById('metrics').textContent")
    assert browser.execute_script("return document.getElementById('paper-box').open") is False
    assert "CodeReasoner" in browser.execute_script("return document.getElementById('paper').textContent")
    quiet(browser)


def test_the_window_of_dates_holds_for_every_metric(browser, site):
    """February: the documents s1, s5, s9, s13 and then hostile text; every number of the row is counted over them."""
    open_at(browser, site)
    wait(browser, "document.querySelectorAll('#wide tbody tr').length")
    browser.execute_script("document.getElementById('every').open = true")
    choose(browser, "board-from", "2023-02")
    choose(browser, "board-to", "2023-02")
    row = "(() => { const heads = [...document.querySelectorAll('#metrics th')].map(t => t.textContent), r = [...document.querySelectorAll('#metrics tbody tr')].find(r => r.children[0].textContent.startsWith(arguments[0]) && r.children[1].textContent === 'ct_mini'); return r && Object.fromEntries(heads.map((h, i) => [h, r.children[i].textContent])); })()"
    wait(browser, f"{row}?.n === '8'", "<img")
    found = browser.execute_script(f"return {row}", "<img")
    samples = [json.loads(line) for line in (site.parent / "c" / "samples_ct_mini_x.jsonl").read_text().splitlines()][1::4]
    verdicts = [json.loads(s["filtered_resps"][0][0]) for s in samples]
    assert len(verdicts) == 8
    for name, values in {"accuracy": [v["acc"] for v in verdicts], "rcs": [v["rcs"] for v in verdicts], "hack_rate": [v["hack"] for v in verdicts], "no_answer": [v["status"] == "no_answer" for v in verdicts]}.items():
        assert found[name] == f"{100 * sum(values) / 8:.2f}", name
    assert found["rcs"] != "50.00"  # what the whole task has
    assert browser.execute_script(f"return {row}.n", "model-one") == "30"  # its problems have no date
    assert texts(browser, "#bars .bar span")  # the bars follow
    label = browser.execute_script("return [...document.querySelectorAll('#bars .bar-row')].find(r => r.textContent.startsWith('<img')).querySelector('.bar').getAttribute('aria-label')")
    assert f"no answer {100 * sum(v['status'] == 'no_answer' for v in verdicts) / 8:.1f} %" in label
    choose(browser, "board-from", "")
    choose(browser, "board-to", "")
    assert wait(browser, f"{row}.n === '30'", "<img")


@pytest.mark.parametrize("size", SIZES)
def test_plots(browser, site, size):
    open_at(browser, site, "#plots", size)
    wait(browser, "[...document.querySelectorAll('#plot-list img')].length && [...document.querySelectorAll('#plot-list img')].every(i => i.complete)")
    found = browser.execute_script("return [...document.querySelectorAll('#plot-list img')].map(i => [i.getAttribute('src'), i.naturalWidth > 0, i.alt.length > 20])")
    assert {name for name, *_ in found} == {f"plots/{n}.svg" for n in ("rollouts", "months", "first-error", "languages")}
    assert all(loaded and described for _, loaded, described in found)
    assert all((site / name.replace(".svg", ".png")).read_bytes().startswith(b"\x89PNG") for name, *_ in found)
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth + 1")
    quiet(browser)


def test_what_changed_between_two_runs(browser, site):
    open_at(browser, site, "#samples?run=r1&other=r0&task=ct_mini&show=lost")
    first, second = (r["id"] for r in browser_runs(site)[:2])
    assert (first, second) == ("r0", "r1")
    assert wait(browser, "document.getElementById('sample-count').textContent") == "5 of 30 samples; both runs have 30: better here 5, better there 0, p = 0.063"
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


def test_two_runs_side_by_side_step_together(browser, site):
    open_at(browser, site, "#samples?run=r0&other=r1&task=ct_mini&id=s1")
    wait(browser, "document.querySelectorAll('.where').length === 2")
    assert texts(browser, ".where") == ["Block 2 of 3: first error"] * 2
    browser.find_element("tag name", "body").send_keys("\ue014")
    assert texts(browser, ".where") == ["Block 3 of 3"] * 2
    number = 30 - len(HOSTILE)  # a reply without a trace beside another: every value is missing, none is called different
    open_at(browser, site, f"#samples?run=r0&task=ct_mini&id=s{number}")
    wait(browser, "document.querySelector('.vars')")
    assert texts(browser, ".now h3") == ["After block 1: the model wrote no such block"]
    assert texts(browser, ".vars td:nth-child(2)") == ["missing"] * 2
    assert texts(browser, ".differs") == []


def test_every_reply_of_a_sample_can_be_seen(browser, tmp_path):
    write_run(tmp_path / "a", "m", "contra", "answer", n=20)
    path = tmp_path / "a" / "samples_ct_mini_x.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row, other in itertools.pairwise(rows):
        row["resps"][0].append(other["resps"][0][0])
        row["filtered_resps"][0].append(other["filtered_resps"][0][0])
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["report", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    open_at(browser, tmp_path / "out", "#samples?task=ct_mini&id=s0")
    wait(browser, "document.querySelectorAll('#sample [aria-pressed]').length === 2")
    assert texts(browser, ".where") == ["Block 1 of 3"]
    browser.execute_script("document.querySelectorAll('#sample [aria-pressed]')[1].click()")
    wait(browser, "document.querySelector('.where').textContent === 'Block 2 of 3: first error'")
    assert texts(browser, "#sample [aria-pressed=true]") == ["2 right"]
    browser.find_element("tag name", "body").send_keys("j")
    wait(browser, "document.querySelector('#sample h2').textContent === 'ct_mini / s1'")
    quiet(browser)


def browser_runs(site):
    text = (site / "data" / "index.js").read_text()
    return json.loads(text[text.index("{") : text.rindex(")")])["runs"]


def test_a_missing_data_file_is_a_sentence(browser, site, tmp_path):
    shutil.copytree(site, tmp_path / "copy")
    for path in (tmp_path / "copy" / "data").glob("r0-0-[0-9]*.js"):
        path.unlink()
    browser.get("about:blank")
    browser.get(f"file://{tmp_path}/copy/index.html#samples?run=r0&task=ct_mini&id=s1")
    assert "is missing" in wait(browser, "document.getElementById('sample').textContent")
    browser.get_log("browser")
    browser.get_log("performance")


def test_long_tables_and_a_long_list_are_drawn_in_stretches(browser, tmp_path):
    write_run(tmp_path / "a", "m", "contra", "answer", n=700)
    path = tmp_path / "a" / "results_x.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "results": data["results"] | {f"t{i}": {"acc,none": i / 200} for i in range(150)}}))
    for i in range(130):
        (tmp_path / f"m{i}").mkdir()
        (tmp_path / f"m{i}" / "results_x.json").write_text(json.dumps({**data, "model_name": f"m{i}"}))
    assert main(["report", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    open_at(browser, tmp_path / "out")
    assert wait(browser, "document.querySelectorAll('#wide tbody tr').length") == 100
    browser.find_element("id", "board-more").click()
    assert wait(browser, "document.querySelectorAll('#wide tbody tr').length") == 131
    assert not browser.find_element("id", "board-more").is_displayed()
    browser.execute_script("document.getElementById('every').open = true")
    assert wait(browser, "document.querySelectorAll('#metrics tbody tr').length") == 100
    run = next(r["key"] for r in browser_runs(tmp_path / "out") if r["sets"])
    open_at(browser, tmp_path / "out", f"#samples?run={run}&task=ct_mini&id=s600")
    assert wait(browser, "document.querySelector('#sample h2')?.textContent") == "ct_mini / s600"
    assert browser.execute_script("return document.querySelectorAll('#sample-list button[data-id]').length") < 501
    assert browser.execute_script("return document.querySelector('#sample-list [aria-current]').dataset.id") == "s600"
    browser.find_element("tag name", "body").send_keys("\ue011")  # Home
    wait(browser, "document.querySelector('#sample h2').textContent === 'ct_mini / s0'")
    assert browser.execute_script("return document.querySelector('#sample-list [aria-current]').dataset.id") == "s0"
    quiet(browser)
