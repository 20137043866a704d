"""The card of gains: the numbers of `gains`, refused in words, and in a file for the first question."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import pedanova as pa
from pedanova.report.page import answers
from pedanova.report.page.cards import can_be_asked, payload_of
from pedanova.report.page.page_question import parse_question


def trials(noise: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    x, z = rng.random((2, 80))
    return {"x": x, "z": z, "loss": rng.random(80) if noise else (x - 0.3) ** 2 + 0.1 * z}


def test_the_card_has_the_numbers_of_the_answer() -> None:
    a = pa.analyze(trials(), "loss")
    question = parse_question({}, a.space)
    found, gains = answers.gains(a.data, question), a.gains()
    assert found["refused"] is None
    assert [(row["name"], row["gain"], row["left_high"]) for row in found["rows"]] == [
        (row.name, row.gain, row.left_high) for row in gains.rows
    ]
    assert found["summary"] == gains.summary()
    json.dumps(found)


def test_what_has_no_model_is_refused_in_words() -> None:
    a = pa.analyze(trials(noise=True), "loss")
    found = answers.gains(a.data, parse_question({}, a.space))
    assert found["refused"].startswith("gains need a model")


def test_a_file_has_it_for_its_first_question() -> None:
    a = pa.analyze(trials(), "loss")
    parts = [one["part"] for one in payload_of(a.data, "page", ladder=[0.1, 1.0])["answers"]]
    assert parts.count("gains") == 1
    refused = pa.analyze(trials(noise=True), "loss")
    parts = [one["part"] for one in payload_of(refused.data, "page", ladder=[0.1, 1.0])["answers"]]
    assert "gains" not in parts
    assert can_be_asked(a.data)["gains"] is True
