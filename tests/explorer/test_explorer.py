"""The explorer: what it answers, whom it refuses, and the page that asks it."""

import http.client
import json
import re
import shutil
import subprocess
import threading
import time

import numpy as np
import pytest

import shoal
from report_pages import TARGET, browsed, fish, ink, learned, local, picture, until
from shoal.explorer import Explorer
from shoal.explorer.workbench import Workbench
from shoal.posterior.single import one_draw
from shoal.report import Report
from shoal.report.packing import unpacked


@pytest.fixture(scope="module")
def served():
    """A server with two fits of the same tracks."""
    target = shoal.TargetMisalignment(TARGET, bins=12)
    fits = [learned(fish(), local(), target, sd=sd) for sd in (40.0, 90.0)]
    reports = [Report(fit, fish()) for fit in fits]
    explorer = Explorer(Workbench(reports, ["narrow.nc", "wide.nc"]))
    explorer.open()
    running = threading.Thread(target=explorer.serve, daemon=True)
    running.start()
    while explorer.server is None or not explorer.server.started:
        time.sleep(0.02)
    yield explorer, fits
    explorer.stop()
    running.join(10)
    assert not running.is_alive()


def ask(explorer, name="", token=None, **headers):
    """Status and body of a request, with any Host and headers."""
    line = http.client.HTTPConnection("127.0.0.1", explorer.port, timeout=60)
    line.putrequest("GET", f"/{token or explorer.token}/{name}", skip_host="Host" in headers)
    for key, value in headers.items():
        line.putheader(key, value)
    line.endheaders()
    answer = line.getresponse()
    body = answer.read()
    line.close()
    return answer, body


def test_only_the_token_the_host_and_the_own_origin_are_let_through(served):
    explorer, _ = served
    own = f"127.0.0.1:{explorer.port}"
    for good in ({}, {"Host": own}, {"Host": f"localhost:{explorer.port}"},
                 {"Origin": f"http://{own}"}):  # fmt: skip
        assert ask(explorer, **good)[0].status == 200, good
    refused = [
        {"token": "x" * len(explorer.token)},
        {"token": explorer.token[:-1]},
        {"Host": "evil.example"},
        {"Host": f"evil.example:{explorer.port}"},
        {"Host": "127.0.0.1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": f"https://{own}"},
        {"Sec-Fetch-Site": "cross-site"},
    ]
    for bad in refused:
        for name in ("", "contents", "simulate?seed=1", "nothing"):
            answer, body = ask(explorer, name, **bad)
            assert (answer.status, body) == (403, b"not allowed\n"), (bad, name)
    assert ask(explorer, "nothing")[0].status == 404


def test_it_listens_on_loopback_alone_and_answers_are_kept_by_nobody(served):
    explorer, _ = served
    assert explorer.listening.getsockname()[0] == "127.0.0.1"
    answer, _ = ask(explorer)
    assert answer.getheader("cache-control") == "no-store"
    assert answer.getheader("referrer-policy") == "no-referrer"
    assert answer.getheader("x-frame-options") == "DENY"


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("simulate?rule=greedy", "rule is one of stochastic, least-cost, passive; got 'greedy'"),
        ("simulate?speed=fast", "speed is a number, got 'fast'"),
        ("simulate?seed=-4", "a seed is a whole number"),
        ("costs?draw=9999", "a draw is a number from 0 to 199"),
        ("costs?discount=0", "lies in (0, 1]"),
        ("costs?discount=nan", "discount is a number"),
        ("policy?state=144", "there are states 0 to 143"),
        ("figure.svg?what=__class__", "what is one of"),
        ("costs?fit=2", "there are fits 0 to 1"),
    ],
)
def test_a_wrong_question_is_answered_with_a_sentence(served, question, sentence):
    answer, body = ask(served[0], question)
    assert answer.status == 400 and sentence in json.loads(body)["error"]


def test_answers_are_the_numbers_of_the_fit(served):
    explorer, fits = served
    found = json.loads(ask(explorer, "policy?state=77&draw=5")[1])
    v = fits[0].sampled.values[0, 5]
    expected = shoal.lmdp.policy(v, fits[0].operator)[77]
    np.testing.assert_allclose(unpacked(found["policy"]), expected, rtol=1e-5, atol=1e-9)
    costs = json.loads(ask(explorer, "costs?fit=1")[1])
    mean = fits[1].cost_to_go.values.mean(axis=(0, 1))
    np.testing.assert_allclose(unpacked(costs["cost_to_go"]["mean"]), mean, atol=1e-5)
    table = ask(explorer, "numbers.csv?what=state_cost")[1].decode().splitlines()
    assert len(table) == 145 and table[0].startswith("local_misalignment,target_misalignment,mean")
    assert ask(explorer, "figure.png")[1].startswith(b"\x89PNG")
    assert b"<svg" in ask(explorer, "figure.svg")[1]


def test_the_same_seed_simulates_the_same_group(served):
    explorer, _ = served
    one, again, other = (
        json.loads(ask(explorer, f"simulate?seed={seed}&draw=3")[1]) for seed in (4, 4, 5)
    )
    assert one == again != other
    assert one["words"].startswith("Simulated: stochastic rule, draw 3, speeds observed, seed 4")


def test_two_fits_are_compared_state_by_state(served):
    explorer, fits = served
    found = json.loads(ask(explorer, "comparison")[1])
    assert [row["fit"] for row in found["rows"]] == ["narrow.nc", "wide.nc"]
    assert all("±" in row["left-out score (bits)"] for row in found["rows"])
    weights = fits[0].level_weights.values
    means = [fit.sampled.values.mean(axis=(0, 1)) for fit in fits]
    means = [mean - (mean * weights).sum() / weights.sum() for mean in means]
    np.testing.assert_allclose(
        unpacked(found["difference"]["mean"]), means[0] - means[1], atol=1e-5
    )


def test_without_uncertainty_nothing_is_said_to_differ(served):
    _, fits = served
    single = [Report(one_draw(fit, 0)) for fit in fits]
    words = Workbench(single, ["a", "b"]).comparison["words"]
    assert "cannot be told" in words and "different passive dynamics" in words


def heard(page, words):
    """Wait until the page has said something."""
    until(page, f"document.getElementById('try-said').textContent{words}")


@pytest.mark.slow
def test_the_page_simulates_compares_and_downloads(browser, served):
    explorer, _ = served
    with browsed(browser) as page:
        page.goto(explorer.address)
        heard(page, " === 'Ready.'")
        assert ink(page, "#map-mean") > 20
        before = picture(page, "#replay-simulated"), picture(page, "#map-mean")
        page.select_option("#try-rule", "least-cost")
        page.fill("#try-seed", "7")
        page.click("#try-simulate")
        heard(page, ".includes('seed 7')")
        page.eval_on_selector(
            "#replay-scrub", "s => { s.value = 60; s.dispatchEvent(new Event('input')); }"
        )
        assert "least-cost rule" in page.text_content("#replay-simulated-words")
        assert picture(page, "#replay-simulated") != before[0]
        page.select_option("#try-draw-kind", "one")
        heard(page, ".startsWith('Costs of draw 0')")
        assert picture(page, "#map-mean") != before[1]
        page.eval_on_selector(
            "#try-discount", "s => { s.value = 0.5; s.dispatchEvent(new Event('change')); }"
        )
        heard(page, ".includes('discount of 0.5')")
        page.click("#try-compare")
        page.wait_for_selector("#map-difference-mean")
        assert ink(page, "#map-difference-mean") > 20
        for name, start in (
            ("figure.svg", b"<?xml"),
            ("figure.png", b"\x89PNG"),
            ("numbers.csv", b"local"),
        ):
            with page.expect_download() as waiting:
                page.click(f"button[data-get='{name}']")
            assert waiting.value.path().read_bytes().startswith(start)
        place = f"http://127.0.0.1:{explorer.port}/"
        assert all(url.startswith((place, "blob:")) for url in page.asked)
        assert page.wrong == []


@pytest.mark.slow
def test_five_hundred_at_once_are_all_answered(served):
    """By wrk: no socket error, no answer but 200."""
    explorer, _ = served
    program = shutil.which("wrk")
    assert program, "this test asks many times at once with wrk: apt-get install wrk"
    done = subprocess.run(
        [program, "-t2", "-c500", "-d3s", "--timeout", "20s", explorer.address],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert "Socket errors" not in done.stdout and "Non-2xx" not in done.stdout, done.stdout
    assert int(re.search(r"(\d+) requests in", done.stdout)[1]) >= 500, done.stdout
    assert ask(explorer)[0].status == 200
