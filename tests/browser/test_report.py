"""The report in a real browser: every test also fails on a console error, a dialog or a request (see conftest.py)."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from mnlearn.results import Learned
from mnlearn.visual.figure_data import measures
from report_networks import HOSTILE, huge, large, ordinary

Open = Callable[..., Any]
COLOURS = """() => {  // how many colours the canvases of the network have
  const canvases = [], found = new Set();
  const walk = (e) => {
    if (e.tagName === "CANVAS") canvases.push(e);
    for (const inner of [...(e.shadowRoot?.children ?? []), ...e.children]) walk(inner);
  };
  walk(document.querySelector("#network"));
  for (const canvas of canvases) {
    const d = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200) found.add(`${d[i]},${d[i + 1]},${d[i + 2]}`);
  }
  return found.size;
}"""


@pytest.fixture(scope="module")
def survey() -> Learned:
    return ordinary()


def drawn(page: Any) -> int:
    return int(page.evaluate("mnlearn.edgesDrawn()"))


def click_on(page: Any, name: str) -> None:
    page.locator("#network").scroll_into_view_if_needed()
    page.mouse.click(*page.evaluate("name => mnlearn.at(name)", name))


def blanket(page: Any) -> list[str]:
    page.wait_for_selector("#blanket", state="attached")
    return sorted(page.locator("#blanket bdi").all_text_contents())


def test_it_opens_in_peace_and_draws(opened: Open, survey: Learned) -> None:
    page = opened().ready()
    assert drawn(page) == survey.graph.n_edges
    assert page.locator("#network canvas").count() > 0
    assert page.locator("#heatmap canvas").count() > 0
    assert sorted(page.evaluate("mnlearn.labelsDrawn()")) == sorted(survey.names)
    colours = page.evaluate(COLOURS)
    assert colours > 5


def test_the_slider_removes_edges_everywhere(opened: Open, survey: Learned) -> None:
    page = opened().ready()
    page.select_option("#measure", label="log odds")
    (_, odds) = measures(survey)
    threshold = sum(sorted(odds.values.values())[4:6]) / 2
    page.locator("#threshold").evaluate(
        "(slider, value) => { slider.step = 'any'; slider.value = value; slider.dispatchEvent(new Event('input')); }",
        threshold,
    )
    left = sum(value >= threshold for value in odds.values.values())
    assert 0 < left < survey.graph.n_edges
    assert drawn(page) == left
    assert page.locator("#edge-table tbody tr:visible").count() == left
    assert page.locator("#edges-shown").text_content() == f"{left} of {survey.graph.n_edges} edges shown"
    page.select_option("#measure", label="probability")
    assert drawn(page) == survey.graph.n_edges


def test_the_slider_filters_by_absolute_weight(opened: Open, survey: Learned) -> None:
    assert survey.weights is not None
    sizes = sorted(abs(value) for value in survey.weights.values.values())
    page = opened().ready()
    page.select_option("#measure", label="|log odds ratio|")
    page.locator("#threshold").evaluate(
        "(slider, value) => { slider.step = 'any'; slider.value = value; slider.dispatchEvent(new Event('input')); }",
        sum(sizes[3:5]) / 2,
    )
    assert drawn(page) == len(sizes) - 4


def test_the_slider_by_keyboard(opened: Open, survey: Learned) -> None:
    page = opened().ready()
    page.locator("#threshold").focus()
    page.keyboard.press("End")
    sure = sum(value >= 1.0 for value in measures(survey)[0].values.values())
    assert drawn(page) == sure < survey.graph.n_edges
    page.keyboard.press("Home")
    assert drawn(page) == survey.graph.n_edges


@pytest.mark.parametrize("name", ["poor_sleep", "fatigue"])
def test_a_click_on_a_node_shows_its_blanket(opened: Open, survey: Learned, name: str) -> None:
    page = opened().ready()
    click_on(page, name)
    assert blanket(page) == sorted(survey.blanket(name))
    assert page.locator("#panel h3").text_content() == name
    assert page.locator("#edge-table tr.chosen").count() == len(survey.blanket(name))
    page.click("#unchoose")
    assert page.locator("#blanket").count() == 0


def test_the_blanket_heeds_the_slider(opened: Open, survey: Learned) -> None:
    page = opened().ready()
    weakest = survey.edge_list()[-1]
    click_on(page, weakest.u)
    page.locator("#threshold").fill("0.99")
    assert weakest.v not in blanket(page)
    assert "hidden by the slider" in page.locator("#panel").text_content()


def test_search_finds_marks_and_chooses(opened: Open, survey: Learned) -> None:
    page = opened().ready()
    page.locator("#search").press_sequentially("ea")
    hits = [name for name in survey.names if "ea" in name]
    assert page.locator("#search-found").text_content() == (
        "1 variable" if len(hits) == 1 else f"{len(hits)} variables"
    )
    page.fill("#search", "HEADACH")
    page.press("#search", "Enter")
    assert page.locator("#panel h3").text_content() == "headaches"
    page.fill("#search", "no such name")
    assert page.locator("#search-found").text_content() == "0 variables"
    page.fill("#search", "")
    assert page.locator("#search-found").text_content() == ""


def test_tables_are_sorted_by_their_headings(opened: Open, survey: Learned) -> None:
    page = opened().ready()
    column = page.locator("#variable-table tbody tr td:first-child")
    before = [text.strip() for text in column.all_text_contents()]
    page.locator("#variable-table th button").first.click()
    assert [text.strip() for text in column.all_text_contents()] == sorted(before)
    assert page.locator("#variable-table th").first.get_attribute("aria-sort") == "ascending"
    page.locator("#variable-table th button").last.click()
    degrees = list(map(int, page.locator("#variable-table tbody tr td:last-child").all_text_contents()))
    assert degrees == sorted(survey.graph.degrees(), reverse=True)


def test_names_in_tables_choose_too(opened: Open, survey: Learned) -> None:
    page = opened().ready()
    page.locator("#variable-table button.name", has_text="stress").click()
    assert blanket(page) == sorted(survey.blanket("stress"))


def test_keys_and_buttons_move_the_picture(opened: Open) -> None:
    page = opened().ready()

    def span() -> float:
        low, high = page.evaluate("mnlearn.range()")
        return float(high - low)

    whole = span()
    page.click("#zoom-in")
    assert span() == pytest.approx(0.7 * whole)
    page.click("#zoom-all")
    assert span() == pytest.approx(whole)
    page.locator("#network").focus()
    page.keyboard.press("+")
    assert span() == pytest.approx(0.8 * whole)
    start = page.evaluate("mnlearn.range()")[0]
    page.keyboard.press("ArrowRight")
    assert page.evaluate("mnlearn.range()")[0] > start
    page.keyboard.press("0")
    assert span() == pytest.approx(whole)


def test_dragging_pans_and_the_wheel_zooms_with_ctrl_only(opened: Open) -> None:
    page = opened().ready()
    page.locator("#network").scroll_into_view_if_needed()
    box = page.locator("#network").bounding_box()
    x, y = box["x"] + 40, box["y"] + 40
    start, end = page.evaluate("mnlearn.range()")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 120, y + 10, steps=4)
    page.mouse.up()
    moved = page.evaluate("mnlearn.range()")
    assert moved[0] < start
    assert moved[1] - moved[0] == pytest.approx(end - start)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    page.wait_for_function(
        "width => { const [a, b] = mnlearn.range(); return b - a < width; }", arg=(end - start) * 0.99
    )


def test_the_pointer_names_what_it_is_on(opened: Open, survey: Learned) -> None:
    page = opened().ready()
    page.locator("#network").scroll_into_view_if_needed()
    page.mouse.move(*page.evaluate("mnlearn.at('poor_sleep')"))
    assert page.locator("#tip").inner_text().split("\n") == [
        "poor_sleep",
        f"{len(survey.blanket('poor_sleep'))} neighbours",
    ]
    (ax, ay), (bx, by) = (page.evaluate(f"mnlearn.at('{name}')") for name in ("poor_sleep", "fatigue"))
    page.mouse.move((ax + bx) / 2, (ay + by) / 2)
    assert page.locator("#tip").inner_text().startswith("poor_sleep – fatigue\nprobability 1.000")
    page.mouse.move(ax, ay - 2000)
    assert not page.locator("#tip").is_visible()


def test_the_pointer_names_the_cells_of_the_heat_map(opened: Open, survey: Learned) -> None:
    page = opened().ready()
    page.locator("#heatmap").scroll_into_view_if_needed()
    box = page.locator("#heatmap").bounding_box()
    seen = set()
    for row in range(16, 100, 4):
        for column in range(16, 100, 4):
            page.mouse.move(box["x"] + box["width"] * column / 100, box["y"] + box["height"] * row / 100)
            if page.locator("#tip").is_visible() and "no edge" not in page.locator("#tip").inner_text():
                seen.add(page.locator("#tip bdi").text_content())
    assert seen == {f"{survey.names[u]} – {survey.names[v]}" for u, v in survey.graph.edges}


def test_hostile_names_are_text_everywhere(opened: Open) -> None:
    page = opened("hostile").ready()
    cells = page.locator("#variable-table td:first-child bdi").all_text_contents()
    assert cells == list(HOSTILE)
    for name in HOSTILE:
        page.locator("#network").scroll_into_view_if_needed()
        page.mouse.move(*page.evaluate("name => mnlearn.at(name)", name))
        assert page.locator("#tip bdi").text_content() == name
        click_on(page, name)
        page.wait_for_function("name => document.querySelector('#panel h3')?.textContent === name", arg=name)
        assert len(blanket(page)) == 2
        page.fill("#search", name)
        page.wait_for_timeout(400)  # else two clicks count as a double click
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("document.scripts.length") == 6
    assert page.locator("img, iframe, object, svg[onload]").count() == 0
    assert "49" not in page.locator("#variable-table").text_content()


def test_a_script_that_came_in_all_the_same_would_not_run(opened: Open) -> None:
    seen = opened()
    page = seen.ready()
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.pwned = 1'}))")
    assert page.evaluate("window.pwned") is None
    assert any("Content Security Policy" in text for text in seen.complaints)
    seen.complaints.clear()


def test_five_hundred_variables_are_usable(opened: Open) -> None:
    network = large()
    page = opened("large").ready()
    assert drawn(page) == network.graph.n_edges > 900
    labels = page.evaluate("mnlearn.labelsDrawn()")
    assert 20 < len(labels) < 500
    page.locator("#threshold").fill("0.95")
    assert 0 < drawn(page) < network.graph.n_edges
    page.locator("#threshold").fill("0")
    page.fill("#search", "variable_321")
    page.press("#search", "Enter")
    assert blanket(page) == sorted(network.blanket("variable_321"))
    for _ in range(5):
        page.click("#zoom-in")
    page.wait_for_function("mnlearn.labelsDrawn().length < 200")
    page.locator("#edge-table th button").nth(2).click()
    assert page.locator("#edge-table tbody tr").count() == network.graph.n_edges


def test_all_of_twenty_thousand_variables_can_be_found(opened: Open) -> None:
    network = huge()
    page = opened("huge").ready()
    assert 0 < drawn(page) < 2_000
    page.fill("#search", "ite_1998")
    assert page.locator("#search-found").text_content() == "11 variables"
    assert page.locator("#variable-names option").count() == 11
    page.fill("#search", "site_19990")
    assert page.locator("#panel h3").text_content() == "site_19990"
    assert blanket(page) == sorted(network.blanket("site_19990"))
    assert page.locator("#ego g.node").count() == len(network.blanket("site_19990")) + 1
    name = page.locator("#blanket bdi").first.text_content()
    page.locator("#blanket button").first.click()
    assert page.locator("#panel h3").text_content() == name
    assert blanket(page) == sorted(network.blanket(name))
    page.locator("#ego g.node").last.click()  # the middle, drawn last
    assert page.locator("#panel h3").text_content() == name
    page.click("#unchoose")
    assert not page.locator("#ego").is_visible()
    page.locator("#variable-table button.name").first.click()
    assert page.locator("#panel h3").text_content() == "site_0"
    assert page.locator("#blanket li").count() == 300
    assert page.locator("#ego g.node").count() == 41


def test_a_click_in_the_picture_of_a_part_shows_all_neighbours(opened: Open) -> None:
    network = huge()
    page = opened("huge").ready()
    name = page.evaluate("mnlearn.labelsDrawn()[1]")
    click_on(page, name)
    page.wait_for_selector("#blanket")
    assert page.locator("#panel h3").text_content() == name
    listed = set(page.locator("#blanket bdi").all_text_contents())
    assert listed <= set(network.blanket(name))
    assert len(listed) == min(300, len(network.blanket(name)))


def test_hostile_names_are_text_in_the_search_of_a_large_network(opened: Open) -> None:
    page = opened("huge").ready()
    page.fill("#search", HOSTILE[1])
    assert page.locator("#panel h3").text_content() == HOSTILE[1]
    assert blanket(page) == [HOSTILE[2]]
    assert page.evaluate("window.pwned") is None
    assert page.locator("#ego img").count() == 0


def test_on_paper_the_picture_stands_still(opened: Open) -> None:
    page = opened(color_scheme="dark").ready()
    assert not page.locator("#network-section .still svg").is_visible()
    page.emulate_media(media="print")
    assert page.locator("#network-section .still svg").is_visible()
    assert page.locator("#heatmap-section .still svg").is_visible()
    assert not page.locator("#network").is_visible()
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert len(page.pdf()) > 10_000


def test_without_scripts_the_picture_stands_still(opened: Open, survey: Learned) -> None:
    page = opened(java_script_enabled=False).page
    assert page.locator("#network-section .still svg line").count() == survey.graph.n_edges
    assert page.locator("#network-section .still svg").is_visible()
    assert not page.locator("#threshold").is_visible()


@pytest.mark.parametrize(("scheme", "light"), [("light", True), ("dark", False)])
def test_it_is_legible_by_day_and_by_night(opened: Open, scheme: str, light: bool) -> None:
    page = opened(color_scheme=scheme).ready()
    paper, ink = page.evaluate(
        "() => { const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]; }"
    )
    assert (_luminance(paper) > 0.5) is light
    lighter, darker = sorted((_luminance(paper), _luminance(ink)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) > 7  # the stricter of the two levels of contrast for text


def _luminance(colour: str) -> float:
    channels = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_narrow_window_needs_no_sideways_scrolling(opened: Open) -> None:
    page = opened().ready()
    page.set_viewport_size({"width": 420, "height": 800})
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= 420


def test_the_picture_and_the_tables_can_be_saved(opened: Open, survey: Learned, tmp_path: Path) -> None:
    page = opened().ready()
    files = {}
    buttons = {"#save-svg": "svg", "#save-png": "png", "[data-save-table=edge-table]": "csv"}
    for button, extension in buttons.items():
        with page.expect_download() as download:
            page.click(button)
        assert download.value.suggested_filename.endswith(extension)
        download.value.save_as(tmp_path / extension)
        files[extension] = (tmp_path / extension).read_bytes()
    picture = ElementTree.fromstring(files["svg"])
    lines = [line for line in picture.iter("{http://www.w3.org/2000/svg}line") if line.get("stroke-linecap")]
    assert len(lines) == survey.graph.n_edges
    assert set(survey.names) <= {text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert files["png"].startswith(b"\x89PNG")
    rows = list(csv.reader(io.StringIO(files["csv"].decode("utf-8-sig"))))
    assert rows[0][:2] == ["variable", "variable"]
    assert "weight" in rows[0]
    assert {tuple(row[:2]) for row in rows[1:]} == {(edge.u, edge.v) for edge in survey.edge_list()}


def test_hostile_names_are_text_in_saved_files_too(opened: Open) -> None:
    page = opened("hostile").ready()
    picture = ElementTree.fromstring(page.evaluate("mnlearn.saved.picture()"))
    assert {child.tag.rpartition("}")[2] for child in picture.iter()} <= {"svg", "rect", "line", "circle", "text"}
    table = list(csv.reader(io.StringIO(page.evaluate("mnlearn.saved.table('variable-table')"))))
    assert len({len(row) for row in table}) == 1
    assert not any(row[0].startswith(("=", "+", "@")) for row in table)
