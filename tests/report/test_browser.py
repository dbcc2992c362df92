"""The report as a reader meets it: opened from disk in a browser, by pointer and by keyboard."""

import csv
import io

import numpy as np
import pytest

import shoal
from report_pages import (
    TARGET,
    browsed,
    decided,
    fish,
    herd,
    ink,
    learned,
    local,
    picture,
    sheep,
    until,
)

pytestmark = pytest.mark.slow

LARGEST = 8_000_000


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """One axis, two, three, and two groups with a dog: each with its fit."""
    folder = tmp_path_factory.mktemp("pages")
    target = shoal.TargetMisalignment(TARGET, bins=12)
    far = shoal.states.TargetDistance(TARGET, edges=(0.0, 0.3, 0.6, 3.0))
    dog = shoal.TargetMisalignment("dog", bins=12)
    fits = {
        "line": (learned(fish(), local()), fish(), 40),
        "map": (learned(fish(), local(18), shoal.TargetMisalignment(TARGET, bins=18)), fish(), 0),
        "three": (learned(fish(), local(), target, far), fish(), 0),
        "sheep": (learned(sheep(), local(), dog), sheep(), 0),
        "moves": (decided(), herd(3, 6, 91, "fish"), 0),
    }
    return {
        name: (
            shoal.write_report(
                fit, folder / f"{name}.html", tracks=tracks, replicates=replicates, progress=False
            ),
            fit,
        )
        for name, (fit, tracks, replicates) in fits.items()
    }


def opened(page, path):
    page.goto(path.as_uri())
    page.wait_for_selector("#replay-words:not(:empty)")


@pytest.mark.parametrize("name", ["line", "map", "three", "sheep", "moves"])
@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_opens_offline_without_an_error_at_any_width(browser, pages, name, width):
    path, _ = pages[name]
    assert path.stat().st_size < LARGEST
    with browsed(browser, width, dark=width == 390) as page:
        opened(page, path)
        assert page.asked == [path.as_uri()]  # and nothing else
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for canvas in ("#replay-observed", "#replay-simulated", "#replay-state"):
            assert ink(page, canvas) > 2, canvas
        if name != "line":
            assert ink(page, "#map-mean") > 20 and ink(page, "#map-sd") > 20
        assert page.wrong == []


def test_numbers_are_written_with_their_sign_and_size(browser, pages):
    path, _ = pages["line"]
    with browsed(browser) as page:
        opened(page, path)
        values = [-1.25, 0.0, -1e-14, 1234.5, -0.000123, 2.5e6, -180.0, 0.30000000000000004]
        told = page.evaluate("values => values.map((value) => shoal.number(value))", values)
        assert told == ["−1.25", "0", "0", "1230", "−1.23e−4", "2.50e+6", "−180", "0.3"]
        assert page.evaluate("shoal.number(null) + shoal.number(NaN)") == "––"


def test_the_pointer_tells_bin_mean_interval_and_arrivals(browser, pages):
    path, fit = pages["map"]
    table = fit.summary().reset_index()
    with browsed(browser) as page:
        opened(page, path)
        page.locator("#map-mean").scroll_into_view_if_needed()
        box = page.locator("#map-mean").bounding_box()
        left, top, wide = 62, 8, box["width"] - 62 - 74  # margins of a map
        tall = min(420, wide)
        row, column = 9, 8  # local 0°, target −20°
        x = box["x"] + left + (column + 0.5) / 18 * wide
        y = box["y"] + top + tall - (row + 0.5) / 18 * tall
        page.mouse.move(x, y)
        said = page.text_content("#tip")
        assert "local misalignment 0°, target misalignment −20°" in said
        state = table.iloc[row * 18 + column]
        for number in (state["mean"], state["sd"], state["lower"], state["upper"]):
            assert f"{number:.3g}".replace("-", "−").rstrip("0").rstrip(".") in said
        assert f"{int(state['arrivals'])} arrivals" in said or "never entered" in said
        page.mouse.click(x, y)
        assert page.text_content("#readout").startswith("local misalignment 0°, target")
        assert "From local misalignment 0°, target misalignment −20°" in page.text_content(
            "#policy-words"
        )
        assert page.wrong == []


def test_a_state_is_chosen_by_keyboard_alone_and_shows_where_an_animal_goes_next(browser, pages):
    path, fit = pages["map"]
    with browsed(browser) as page:
        opened(page, path)
        start = page.evaluate("shoal.page.view.selected")
        before = picture(page, "#map-policy")
        page.focus("#map-mean")
        for key in ("ArrowUp", "ArrowUp", "ArrowRight", "Enter"):
            page.keyboard.press(key)
        chosen = page.evaluate("shoal.page.view.selected")
        row, column = np.unravel_index(start, (18, 18))
        assert chosen == np.ravel_multi_index(((row + 2) % 18, (column + 1) % 18), (18, 18))
        assert picture(page, "#map-policy") != before
        shown = np.array(
            page.evaluate("Array.from(shoal.page.policy.from(shoal.page.view.selected).policy)")
        )
        v = fit.cost_to_go.values.mean(axis=(0, 1))
        expected = shoal.lmdp.policy(v, fit.operator)[chosen]
        np.testing.assert_allclose(shown, expected, rtol=2e-4, atol=1e-7)
        assert page.wrong == []


def test_the_replay_plays_pauses_is_scrubbed_and_follows_an_animal(browser, pages):
    path, _ = pages["map"]
    with browsed(browser) as page:
        opened(page, path)
        first = picture(page, "#replay-observed")
        page.select_option("#replay-speed", "5")
        page.click("#replay-play")
        until(page, "shoal.page.replay.frame > 5")
        assert page.text_content("#replay-play") == "Pause"
        page.click("#replay-play")
        frame = page.evaluate("shoal.page.replay.frame")
        assert picture(page, "#replay-observed") != first
        page.wait_for_timeout(150)
        assert page.evaluate("shoal.page.replay.frame") == frame
        page.eval_on_selector(
            "#replay-scrub", "s => { s.value = 40; s.dispatchEvent(new Event('input')); }"
        )
        assert page.evaluate("shoal.page.replay.frame") == 40
        assert "frame 40" in page.text_content("#replay-time")
        x, y = page.evaluate(
            """() => {
                const r = shoal.page.replay;
                r.panel(r.canvases[0], r.panels[0], "orange");
                return r.scale(r.place(r.panels[0], 40, 3));
            }"""
        )
        page.locator("#replay-observed").click(position={"x": x, "y": y})
        assert page.evaluate("shoal.page.replay.followed") == 3
        assert page.text_content("#replay-words").startswith(
            f"Following {fish().members[3]}. observed: "
        )
        assert page.wrong == []


def test_the_replay_works_by_keyboard_and_marks_the_state_that_was_counted(browser, pages):
    path, fit = pages["map"]
    states, _ = shoal.states.track_states(fish(), fit.model.space)
    with browsed(browser) as page:
        opened(page, path)
        page.focus("#replay-observed")
        for _ in range(7):
            page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        animal = page.evaluate("shoal.page.replay.followed")
        shown = page.evaluate(
            "(() => { const r = shoal.page.replay; return Array.from(r.panels[0].states); })()"
        )
        frames = len(shown) // len(fish().members)
        np.testing.assert_array_equal(
            np.array(shown).reshape(frames, -1), states[len(states) - frames :]
        )
        counted = states[len(states) - frames + 7, animal]
        said = page.text_content("#replay-words")
        words = "no state" if counted < 0 else fit.model.space.describe(int(counted))
        angle = "no state" if counted < 0 else words.split("(")[1].split(",")[0].split()[-1]
        assert angle.replace("-", "−") in said
        page.keyboard.press(" ")
        until(page, "shoal.page.replay.frame > 8")
        page.keyboard.press(" ")
        assert page.evaluate("shoal.page.replay.playing") is False
        assert page.wrong == []


def test_three_axes_have_sliders_and_any_two_can_be_shown(browser, pages):
    path, _ = pages["three"]
    with browsed(browser) as page:
        opened(page, path)
        before = picture(page, "#map-mean")
        slide = page.locator("#axis-controls input[type=range]")
        assert slide.count() == 1
        at = int(slide.input_value())
        slide.focus()
        page.keyboard.press("ArrowRight" if at < 2 else "ArrowLeft")
        assert picture(page, "#map-mean") != before
        page.select_option("#axis-across", "2")
        assert page.evaluate("shoal.page.view.axes") == [0, 2]
        assert page.locator("#axis-controls input[type=range]").get_attribute("data-axis") == "1"
        page.check("input[name=what][value=state_cost]")
        assert "state cost" in page.text_content("#readout")
        assert page.wrong == []


def test_the_map_around_an_animal_and_its_moves_are_told_by_keyboard(browser, pages):
    path, fit = pages["moves"]
    with browsed(browser) as page:
        opened(page, path)
        assert ink(page, "#around-0-mean") > 20 and ink(page, "#around-0-sd") > 20
        page.focus("#around-0-mean")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowLeft")
        angle = fit.model.space.axes[1].centres[5]
        assert angle == 45.0  # one bin to the left of straight ahead
        assert "their nearest neighbour, 45° to the left, " in page.text_content("#around-words")
        page.focus("#replay-observed")
        for _ in range(6):
            page.keyboard.press("ArrowRight")
        assert ink(page, "#replay-moves") > 5
        said = page.text_content("#replay-words")
        assert "Its chances: left " in said and "(without preferences " in said
        shown = page.evaluate(
            """() => {
                const r = shoal.page.replay, found = r.fan.at(r.decision());
                return found.moves.map((m) => [m.chance, m.passive]);
            }"""
        )
        np.testing.assert_allclose(np.sum(shown, axis=0), 1.0, atol=0.02)
        assert page.wrong == []


def test_numbers_leave_the_page_as_they_are_in_the_fit(browser, pages):
    path, fit = pages["map"]
    with browsed(browser) as page:
        opened(page, path)
        with page.expect_download() as waiting:
            page.click("#numbers")
        rows = list(csv.DictReader(io.StringIO(waiting.value.path().read_text())))
    found = np.array([float(row["state_cost_upper"]) for row in rows])
    np.testing.assert_allclose(
        found, fit.summary("state_cost")["upper"].to_numpy(), rtol=1e-5, atol=1e-6
    )
    assert [int(row["arrivals"]) for row in rows] == fit.arrivals.values.ravel().tolist()


def test_everything_that_can_be_used_has_a_name_for_screen_readers(browser, pages):
    path, _ = pages["three"]
    with browsed(browser) as page:
        opened(page, path)
        unnamed = page.evaluate(
            """() => {
                const named = (e) => e.getAttribute("aria-label") || e.textContent.trim()
                    || e.getAttribute("aria-labelledby")
                    || (e.labels && e.labels.length && e.labels[0].textContent.trim());
                const used = "button, input, select, canvas[tabindex], a, section";
                return [...document.querySelectorAll(used)].filter((e) => !named(e))
                    .map((e) => e.outerHTML.slice(0, 80));
            }"""
        )
        assert unnamed == []
        reached = set()
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.id"))
        assert {
            "map-mean",
            "map-sd",
            "map-policy",
            "replay-play",
            "replay-scrub",
            "replay-observed",
        } <= reached


def test_words_can_be_read_on_dark_and_on_light(browser, pages):
    """Contrast of text and paper by the rule of WCAG: 4.5 or more."""
    path, _ = pages["line"]
    for dark in (False, True):
        with browsed(browser, dark=dark) as page:
            opened(page, path)
            colours = page.evaluate(
                """() => {
                    const pen = document.createElement("canvas").getContext("2d");
                    const read = (name) => {
                        pen.fillStyle = shoal.colour(name);
                        pen.fillRect(0, 0, 1, 1);
                        return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
                    };
                    const names = ["paper", "panel", "ink", "soft", "blue", "bad", "bad-paper",
                        "good", "orange", "green", "purple"];
                    return Object.fromEntries(names.map((name) => [name, read(name)]));
                }"""
            )

        def light(name, colours=colours):
            c = np.array(colours[name]) / 255
            return float(
                np.where(c <= 0.03928, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
                @ np.array([0.2126, 0.7152, 0.0722])
            )

        def contrast(one, other, light=light):
            low, high = sorted((light(one), light(other)))
            return (high + 0.05) / (low + 0.05)

        for word in ("ink", "soft", "blue", "good"):
            assert contrast(word, "paper") >= 4.5, (dark, word)
        assert contrast("bad", "bad-paper") >= 4.5
        assert contrast("ink", "panel") >= 4.5
        for line in ("orange", "green", "purple"):
            assert contrast(line, "panel") >= 3.0, (dark, line)


def test_a_page_prints_with_all_its_parts(browser, pages, tmp_path):
    path, _ = pages["line"]
    with browsed(browser) as page:
        opened(page, path)
        page.emulate_media(media="print")
        assert page.locator("nav").is_hidden() and page.locator("#replay-play").is_hidden()
        made = page.pdf(path=tmp_path / "page.pdf")
        assert made.startswith(b"%PDF") and len(made) > 20_000
