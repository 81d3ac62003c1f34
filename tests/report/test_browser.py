"""The page in Chromium: it draws itself, follows its filters, and runs nothing of others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.report.chromium import Chromium
from tests.report.hostile_lake import hostile
from tests.report.payloads import MARK, PAYLOADS
from tests.report.small_lake import ARM, CAMERA, capture, make, message, robot
from zenlake.report import Selection, write

pytestmark = pytest.mark.xdist_group("chromium")

EVERYTHING = Selection()
OPEN_ALL = """(() => {
  for (let round = 0; round < 6; round += 1) {
    const closed = 'button.more, button.toggle[aria-expanded=false]';
    for (const button of document.querySelectorAll(closed)) button.click();
    for (const details of document.querySelectorAll('details:not([open])')) details.open = true;
  }
  return document.querySelectorAll('*').length;
})()"""
SHOW_CHART = """(() => {
  const chart = document.querySelectorAll('.chart')[%d];
  chart.scrollIntoView({ block: 'center', behavior: 'instant' });
  const box = chart.getBoundingClientRect();
  return [box.left, box.top, box.width, box.height];
})()"""
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


@pytest.fixture(scope="module")
def robot_page(page_folder: Path) -> Path:
    store = make(page_folder / "robot.lake", robot())
    return write(store, page_folder / "robot.html", EVERYTHING).path


@pytest.fixture(scope="module")
def hostile_page(page_folder: Path) -> Path:
    store = hostile(page_folder / "hostile.lake")
    return write(store, page_folder / "hostile.html", EVERYTHING).path


def show(browser: Chromium, page: Path, width: int = 1440, dark: bool = False) -> None:
    browser.problems.clear()
    browser.requests.clear()
    browser.show(page, width, dark=dark)


def text_of(browser: Chromium, selector: str) -> str:
    text: str = browser.run(f"document.querySelector({selector!r}).innerText")
    return text


def filter_by(browser: Chromium, key: str = "", node: str = "") -> None:
    """Use the page as a person does: type, choose, submit; returns when all is drawn again."""
    browser.run(f"""(() => {{
      document.getElementById('key-filter').value = {key!r};
      const select = document.getElementById('node-filter');
      select.value = [...select.options].find((one) => one.text.startsWith({node!r}))?.value ?? '';
      document.getElementById('filters').requestSubmit();
    }})()""")
    browser.run("""new Promise((done) => {
      const look = () => (document.documentElement.dataset.ready ? done() : setTimeout(look, 10));
      look();
    })""")


def test_page_draws_itself_and_loads_no_other_file(browser: Chromium, robot_page: Path) -> None:
    show(browser, robot_page)
    assert browser.problems == []
    assert {url.split("/")[-1] for url in browser.requests[-1:]} == {"robot.html"}
    assert all(url.startswith("file:") for url in browser.requests)
    assert text_of(browser, "h1") == "robot.lake"
    assert "1 of 2 queries timed out on arm/pose." in text_of(browser, "#findings")
    assert len(_touched_charts(browser)) >= 5


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_page_is_never_wider_than_the_window(
    browser: Chromium, robot_page: Path, hostile_page: Path, width: int, dark: bool
) -> None:
    for page in (robot_page, hostile_page):
        show(browser, page, width, dark)
        assert browser.run("document.documentElement.scrollWidth") == width
        assert browser.problems == []


def test_text_has_the_contrast_that_people_need(browser: Chromium, robot_page: Path) -> None:
    for dark in (False, True):
        show(browser, robot_page, dark=dark)
        pairs = [(name, "--card") for name in ("--text", "--soft", "--accent")]
        pairs += [("--soft", "--page"), ("--card", "--accent")]
        pairs += [(f"--{word}", f"--{word}-soft") for word in ("bad", "odd", "good", "note")]
        for text, ground in pairs:
            assert _contrast(browser, text, ground) >= 4.5, (text, ground, dark)


def _contrast(browser: Chromium, *names: str) -> float:
    """The contrast by the formula of WCAG 2."""
    lights = []
    for name in names:
        style = f"getComputedStyle(document.documentElement).getPropertyValue('{name}').trim()"
        colour = browser.run(style)
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def test_a_key_expression_filters_every_section(browser: Chromium, robot_page: Path) -> None:
    show(browser, robot_page)
    assert "camera" in text_of(browser, "#keys")
    filter_by(browser, key="arm/joint/*")
    assert "camera" not in text_of(browser, "#keys")
    assert "4.0 KB" in text_of(browser, "#keys .row:not(.head)")
    assert text_of(browser, "#queries .tiles").split() == ["1", "answered"]
    assert "None of the listed failures fits" in text_of(browser, "#queries")
    assert "keep-alives, are left out" in text_of(browser, "#traffic")
    filter_by(browser, key="arm//pose")
    assert "Not a key expression: a chunk is empty." in text_of(browser, "#filters")
    filter_by(browser, key="nobody/**")
    assert "No traffic fits the filter." in text_of(browser, "#traffic")
    filter_by(browser)
    assert "Showing everything." in text_of(browser, "#filters")
    assert "camera" in text_of(browser, "#keys")
    assert browser.problems == []


def test_a_node_filters_every_section(browser: Chromium, robot_page: Path) -> None:
    show(browser, robot_page)
    filter_by(browser, node="a5ce")
    assert "No losses between this node and others." in text_of(browser, "#losses")
    assert "This node broke no rule." in text_of(browser, "#violations")
    assert "joint" not in text_of(browser, "#keys")
    filter_by(browser, node=ARM)
    assert "sequence numbers missing" in text_of(browser, "#losses")
    assert "sn-backwards" in text_of(browser, "#violations")
    assert "camera" not in text_of(browser, "#keys")


def test_the_waterfall_tells_hops_replies_and_reason(browser: Chromium, robot_page: Path) -> None:
    show(browser, robot_page)
    story = text_of(browser, "#queries details.query")
    for words in ("timed out", "arm/pose?now", "502 ms", "did not answer", "“Timeout”"):
        assert words in story
    lanes = "[...document.querySelector('#queries details').querySelectorAll('.lane .who')]"
    assert browser.run(f"{lanes}.map((one) => one.innerText)") == ["a5ce → 70e1", "70e1 → a12b"]


def test_hostile_payloads_run_no_script(browser: Chromium, hostile_page: Path) -> None:
    assert len(PAYLOADS) == len(set(PAYLOADS)) == 300
    show(browser, hostile_page)
    assert browser.run(OPEN_ALL) > 5_000
    assert sum(_touched_charts(browser)) > 5
    for text in PAYLOADS[::30]:
        filter_by(browser, key=text)
    filter_by(browser, node=ARM)
    browser.run(OPEN_ALL)
    assert browser.run(f"document.documentElement.hasAttribute('data-{MARK}')") is False
    # The policy would stop scripts too, but no payload may get that far.
    assert browser.problems == []
    assert all(url.startswith("file:") for url in browser.requests)


def _touched_charts(browser: Chromium) -> list[int]:
    """For each chart, the number of tooltips shown while a pointer moved over it."""
    tips = []
    for number in range(browser.run("document.querySelectorAll('.chart').length")):
        box = browser.run(SHOW_CHART % number)
        browser.wait_for_frames()
        assert browser.run(f"document.querySelectorAll('.chart')[{number}].children.length > 0")
        found = 0
        for share in (0.1, 0.3, 0.5, 0.7, 0.9):
            browser.hover(box[0] + box[2] * share, box[1] + box[3] * 0.5)
            found += browser.run("document.querySelectorAll('.tip').length")
        tips.append(found)
    return tips


def test_invisible_characters_are_escaped(browser: Chromium, hostile_page: Path) -> None:
    show(browser, hostile_page)
    browser.run(OPEN_ALL)
    text = browser.run("document.body.innerText")
    assert UNSEEN.search(text) is None
    for seen in (r"\u202e", r"\u2028", r"\x00", r"\x1b[31m", r"\u200b", r"\u0430dmin"):
        assert seen in text
    titles = browser.run("[...document.querySelectorAll('[title]')].map((one) => one.title).join()")
    assert UNSEEN.search(titles) is None


def test_long_keys_are_cut(browser: Chromium, page_folder: Path) -> None:
    key = "long/" + "k" * 60_000
    rows = {"captures": [capture()], "messages": []}
    for number in range(200):
        rows["messages"].append(message(number, number + 1, "PUSH/PUT", f"{key}/{number}"))
    report = write(make(page_folder / "long.lake", rows), page_folder / "long.html", EVERYTHING)
    assert report.bytes < 2_000_000
    show(browser, report.path)
    assert browser.run("document.body.innerText.length") < 100_000
    filter_by(browser, key="long/**")
    assert "long" in text_of(browser, "#keys .tree")
    filter_by(browser, key="short/**")
    assert "No listed key fits the filter." in text_of(browser, "#keys")


def test_nodes_without_a_row_are_shown_as_others(browser: Chromium, robot_page: Path) -> None:
    show(browser, robot_page)
    browser.run("[...document.querySelectorAll('#traffic button')][2].click()")
    label = browser.run("document.getElementById('traffic-messages').getAttribute('aria-label')")
    assert f"{ARM} 42 messages" in label
    assert "other nodes 1 messages" in label  # the camera, which is no row of `nodes`
    assert CAMERA not in label


def settled(browser: Chromium) -> None:
    """Wait until a zoom is drawn in all charts; the page waits a moment for further zooming."""
    browser.run("new Promise((done) => setTimeout(done, 150))")
    browser.wait_for_frames()


def zooms(browser: Chromium) -> list[list[float]]:
    """The part of the time, in percent, that each chart over time shows."""
    found: list[list[float]] = browser.run("""
      [...document.querySelectorAll('.chart')]
        .map((element) => echarts.getInstanceByDom(element)?.getOption().dataZoom?.[0])
        .filter(Boolean)
        .map((zoom) => [zoom.start, zoom.end])""")
    return found


def test_a_finding_opens_its_item(browser: Chromium, robot_page: Path) -> None:
    show(browser, robot_page)
    links = browser.run("[...document.querySelectorAll('#findings-list a')].map((one) => one.hash)")
    items = [link for link in links if re.fullmatch(r"#[a-z]+-\d+", link)]
    assert {item.split("-")[0] for item in items} >= {"#query", "#rule", "#loss", "#session"}
    browser.run("for (const one of document.querySelectorAll('details')) one.open = false")
    for item in items:
        browser.run(f"""document.querySelector('#findings-list a[href="{item}"]').click()""")
        settled(browser)
        meant = f"document.querySelector({item!r})"
        assert browser.run(f"{meant}.classList.contains('meant')"), item
        assert browser.run(f"!{meant}.closest('details:not([open])')"), item
        assert browser.run(f"{meant}.getBoundingClientRect().height > 0"), item
    assert browser.problems == []


def test_a_link_opens_an_item_that_filters_hide(browser: Chromium, robot_page: Path) -> None:
    show(browser, robot_page)
    filter_by(browser, key="camera/**")
    assert not browser.run("document.getElementById('query-0')")
    browser.run("location.hash = '#query-0'")
    browser.run("""new Promise((done) => {
      const look = () => (document.querySelector('.meant') ? done() : setTimeout(look, 10));
      look();
    })""")
    assert browser.run("document.getElementById('query-0').classList.contains('meant')")
    assert "Showing everything." in text_of(browser, "#filters")


def test_charts_zoom_together(browser: Chromium, robot_page: Path) -> None:
    show(browser, robot_page)
    _touched_charts(browser)  # which are drawn when they come into sight
    press = "[...document.querySelectorAll('.zoom button')].find((one) => one.innerText === %r)"
    for title, expected in (
        ("Zoom in", [25, 75]),
        ("Zoom in", [37.5, 62.5]),
        ("Later", [50, 75]),
        ("Zoom out", [37.5, 87.5]),
        ("Whole time", [0, 100]),
    ):
        browser.run((press % title) + ".click()")
        settled(browser)
        found = zooms(browser)
        assert len(found) >= 3
        assert all(one == pytest.approx(expected) for one in found), title
        if title == "Later":
            assert "2.5" in text_of(browser, "#zoom-status")
    assert text_of(browser, "#zoom-status") == "The whole time is shown."
    assert browser.problems == []


BARS = """(() => {
  const chart = echarts.getInstanceByDom(document.getElementById('traffic-messages'));
  const { series } = chart.getOption();
  const values = series.flatMap((one) => one.data).filter((value) => value > 0);
  return [series[0].data.length, values.length, values.reduce((sum, value) => sum + value, 0)];
})()"""


@pytest.mark.parametrize("is_by_kind", [True, False])
def test_a_zoom_shows_smaller_parts_of_the_time(
    browser: Chromium, robot_page: Path, is_by_kind: bool
) -> None:
    show(browser, robot_page)
    _touched_charts(browser)
    if not is_by_kind:
        browser.run("[...document.querySelectorAll('#traffic button')][2].click()")
    bars, filled, rates = browser.run(BARS)
    for _ in range(4):
        browser.run("document.querySelector('.zoom button').click()")
        settled(browser)
    finer, finer_filled, finer_rates = browser.run(BARS)
    assert finer == pytest.approx(bars * 16, rel=0.01)
    assert finer_filled > filled
    # The same messages, each counted in a sixteenth of the time.
    assert finer_rates == pytest.approx(rates * 16, rel=0.01)
    assert "in bars of" in text_of(browser, "#zoom-status")
    browser.run("[...document.querySelectorAll('.zoom button')].at(-1).click()")
    settled(browser)
    assert browser.run(BARS) == pytest.approx([bars, filled, rates])
    assert browser.problems == []


def test_a_text_in_keys_filters_every_section(browser: Chromium, robot_page: Path) -> None:
    show(browser, robot_page)
    browser.run("document.getElementById('key-search').value = 'JOINT'")
    filter_by(browser)
    assert "camera" not in text_of(browser, "#keys")
    assert "joint" in text_of(browser, "#keys")
    assert "contain “JOINT”" in text_of(browser, "#filters")
    filter_by(browser, key="camera/**")
    assert "No listed key fits the filter." in text_of(browser, "#keys")
    browser.run("document.getElementById('clear').click()")
    assert browser.run("document.getElementById('key-search').value") == ""


def test_captures_can_be_chosen(browser: Chromium, page_folder: Path) -> None:
    rows = robot()
    rows["captures"].append(capture("later.pcapng", 20_000, 25_000))
    loss = {**rows["losses"][0], "capture": "later.pcapng", "time_ns": rows["losses"][0]["time_ns"]}
    rows["losses"].append({**loss, "kind": "tcp_gap", "count": None, "bytes": 5})
    page = write(make(page_folder / "two.lake", rows), page_folder / "two.html", EVERYTHING).path
    show(browser, page)
    assert "TCP bytes missing" in text_of(browser, "#losses table")
    browser.run("document.querySelector('#capture-list input[value=\"0\"]').click()")
    settled(browser)
    assert "1 capture of 2 is chosen" in text_of(browser, "#filters")
    assert "sequence numbers missing" not in text_of(browser, "#losses table")
    assert "TCP bytes missing" in text_of(browser, "#losses table")
    assert "No failed queries" in text_of(browser, "#queries") or "None of the listed" in text_of(
        browser, "#queries"
    )
    browser.run("document.getElementById('clear').click()")
    settled(browser)
    assert "sequence numbers missing" in text_of(browser, "#losses table")
    assert browser.problems == []


def test_a_command_is_copied_as_it_is(browser: Chromium, robot_page: Path) -> None:
    show(browser, robot_page)
    copied = browser.run("""(async () => {
      let text = null;
      const write = async (given) => { text = given; };
      Object.defineProperty(navigator, 'clipboard', { value: { writeText: write } });
      document.querySelector('#query-0 .command button').click();
      await new Promise((done) => setTimeout(done, 20));
      return text;
    })()""")
    assert copied.startswith("zenlake decode --where 'packet")
    assert copied == text_of(browser, "#query-0 .command code")
    assert copied.endswith(" robot.pcapng")
