"""Saved analyses: exact round trips, and no trust in what is read."""

from __future__ import annotations

import io
import json
import re
import struct
import tracemalloc
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pedanova as pa
from helpers.common import COUNTS
from helpers.tools import places_in, replaced, tame
from pedanova.counting.store import MAGIC, VERSION, Stored, from_bytes, to_bytes
from pedanova.counting.tally import Moments
from pedanova.errors import DataError, FormatError, LevelsError, PedanovaError


def unpacked(content: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of a file."""
    with np.load(io.BytesIO(content[16:])) as archive:
        arrays = dict(archive)
    return json.loads(arrays.pop("header").tobytes()), arrays


def forged(content: bytes, change: dict[str, Any], **blocks: np.ndarray) -> bytes:
    """A file with a right checksum and a wrong header, or wrong arrays."""
    header, arrays = unpacked(content)
    text = np.frombuffer(json.dumps(header | change).encode(), dtype=np.uint8)
    archive = io.BytesIO()
    np.savez_compressed(archive, header=text, **(arrays | blocks))
    body = archive.getvalue()
    return MAGIC + struct.pack("<II", VERSION, zlib.crc32(body)) + body


def content_of(a: pa.Analysis) -> bytes:
    return to_bytes(Stored(a.objective, a.data.dropped, a.data.levels, a.data.tallies, a.notes, a.data.moments))


@pytest.fixture
def analysis(trials: dict[str, np.ndarray]) -> pa.Analysis:
    return pa.analyze(trials, "loss")


def test_round_trip(analysis: pa.Analysis, tmp_path: Path) -> None:
    path = tmp_path / "run.pedanova"
    analysis.save(path, rows=False)
    loaded = pa.load(path)
    assert loaded.data.tallies == analysis.data.tallies
    assert loaded.notes == analysis.notes
    assert loaded.space == analysis.space
    assert loaded.data.levels == analysis.data.levels
    assert loaded.importance(**COUNTS) == analysis.importance(**COUNTS)
    assert loaded.importance(0.02, 0.5, **COUNTS) == analysis.importance(0.02, 0.5, **COUNTS)
    assert [p.name for p in tmp_path.iterdir()] == ["run.pedanova"]
    assert content_of(loaded) == content_of(analysis)
    loaded.save(tmp_path / "again.pedanova", rows=False)
    assert path.read_bytes() == (tmp_path / "again.pedanova").read_bytes()


@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e-158])
def test_objectives_too_small_to_square_come_back(size: float, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    table = {"x": random.random(3000), "loss": random.integers(-100, 1000, 3000) * size}
    analysis = pa.analyze(table, "loss")
    analysis.save(tmp_path / "run.pedanova")
    assert pa.load(tmp_path / "run.pedanova").data.tallies == analysis.data.tallies


def test_a_loaded_analysis_says_which_quantiles_there_are(analysis: pa.Analysis, tmp_path: Path) -> None:
    analysis.save(tmp_path / "a.pedanova", rows=False)
    loaded = pa.load(tmp_path / "a.pedanova")
    assert analysis.importance(0.033, **COUNTS).rows  # the data is at hand: counted again
    with pytest.raises(LevelsError, match=r"3.3 %.*no longer available.*3 %, 4 %"):
        loaded.importance(0.033, **COUNTS)
    with pytest.raises(LevelsError, match=r"the threshold 0.5 cannot be used"):
        loaded.importance(pa.at_most(0.5), **COUNTS)


def test_small_studies_keep_every_quantile(trials: dict[str, np.ndarray], tmp_path: Path) -> None:
    few = {name: column[:100] for name, column in trials.items()}
    a = pa.analyze(few, "loss")
    a.save(tmp_path / "a.pedanova", rows=False)
    loaded = pa.load(tmp_path / "a.pedanova")
    for target in (0.033, 0.111, 0.47):
        assert loaded.importance(target, **COUNTS) == a.importance(target, **COUNTS)
    assert loaded.importance(pa.at_most(1.0), **COUNTS) == a.importance(pa.at_most(1.0), **COUNTS)


def test_loaded_parts_add_up(trials: dict[str, np.ndarray], tmp_path: Path) -> None:
    whole = pa.analyze(trials, "loss")
    for i in range(2):
        part = {name: column[i::2] for name, column in trials.items()}
        pa.analyze(part, "loss", space=whole.space, levels=whole.data.levels).save(tmp_path / f"{i}.pedanova")
    added = pa.load(tmp_path / "0.pedanova") + pa.load(tmp_path / "1.pedanova")
    assert added.data.tallies == whole.data.tallies


def test_notes_are_kept_as_data(trials: dict[str, np.ndarray], tmp_path: Path) -> None:
    a = pa.analyze(
        trials | {"state": np.where(trials["lr"] > 0.5, "FAIL", "COMPLETE")}, "loss", reading=pa.Reading(state="state")
    )
    a.save(tmp_path / "a.pedanova")
    kept = pa.load(tmp_path / "a.pedanova").notes
    assert [(note, note.kind, note.subject, note.counts, note.severity) for note in kept] == [
        (note, note.kind, note.subject, note.counts, note.severity) for note in a.notes
    ]
    assert any(note.counts for note in kept)


def test_no_row_can_be_read_back_from_the_file(tmp_path: Path) -> None:
    """Of 1,000 rows thresholds, counts and sums remain: no parameter's value is among them."""
    random = np.random.default_rng(0)
    data = {"x": random.random(1_000), "y": random.normal(size=1_000)}
    pa.analyze(data, "y", space={"x": pa.Float(0, 1)}).save(tmp_path / "a.pedanova", rows=False)
    content = (tmp_path / "a.pedanova").read_bytes()
    header, arrays = unpacked(content)
    unfolded = [array.tobytes() for array in arrays.values()]
    found = {name: sum(v.tobytes() in block for v in column for block in unfolded) for name, column in data.items()}
    assert found["x"] == 0
    # The thresholds are objectives, and so is the sum of a cell that holds one row of its level.
    assert sum(v.tobytes() in arrays["thresholds"].tobytes() for v in data["y"]) <= 34
    assert not any(repr(float(value)) in json.dumps(header) for value in data["x"])
    assert len(content) < 100_000


def test_a_failed_save_leaves_the_old_file(analysis: pa.Analysis, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written"):
        analysis.save(tmp_path / "no" / "such" / "folder.pedanova")
    with pytest.raises(DataError, match="cannot be read"):
        pa.load(tmp_path / "absent.pedanova")


@pytest.fixture(scope="module")
def content() -> bytes:
    random = np.random.default_rng(3)
    a = pa.analyze({"x": random.random(500), "c": random.choice(["a", "b"], 500)}, random.normal(size=500))
    return content_of(a)


class TestHostile:
    def test_every_truncation(self, content: bytes) -> None:
        for end in range(0, len(content), 7):
            with pytest.raises(FormatError):
                from_bytes(content[:end])

    @given(data=st.data())
    def test_any_changed_byte(self, content: bytes, data: st.DataObject) -> None:
        place = data.draw(st.integers(0, len(content) - 1))
        value = data.draw(st.integers(0, 255))
        changed = content[:place] + bytes([value]) + content[place + 1 :]
        if changed != content:
            with pytest.raises(FormatError):
                from_bytes(changed)

    @given(st.binary(max_size=300))
    def test_any_bytes(self, noise: bytes) -> None:
        for start in (b"", MAGIC, MAGIC + struct.pack("<II", VERSION, 5)):
            with pytest.raises(FormatError):
                from_bytes(start + noise)

    @pytest.mark.parametrize(
        "change",
        [
            {"levels": 60_000},
            {"levels": -1},
            {"levels": 2**80},
            {"levels": "many"},
            {"space": {}},
            {"space": []},
            {"space": {"x": {"type": "float", "low": 1, "high": 0}}},
            {"space": {"x": {"type": "exec", "code": "1"}}},
            {"space": {"x": {"type": "categorical", "choices": ["a"] * 3}}},
            {"direction": "sideways"},
            {"nan": None},
            {"quantiles": [[1, 0]]},
            {"quantiles": [[2, 1]]},
            {"quantiles": ["1e999999999"]},
            {"quantiles": []},
            {"quantiles": 3},
            {"index": [0]},
            {"index": [10**9] * 34},
            {"dropped": -5},
            {"dropped": True},
            {"notes": 7},
            {"attachments": 7},
            {"attachments": {"rows": 7}},
        ],
        ids=str,
    )
    def test_forged_headers(self, content: bytes, change: dict[str, object]) -> None:
        with pytest.raises(FormatError):
            from_bytes(forged(content, change))

    def test_a_bomb_is_not_unfolded(self, content: bytes) -> None:
        """50 MB of zeros in 50 KB claim to be the thresholds."""
        with pytest.raises(FormatError, match=r"array 'thresholds' of .* with the wrong type or shape"):
            from_bytes(forged(content, {}, thresholds=np.zeros(6_250_000)))

    def test_an_array_that_says_it_is_huge(self, content: bytes) -> None:
        """Its own header promises 8 PB, and there are 24 bytes."""
        npy, body = io.BytesIO(), io.BytesIO(forged(content, {"attachments": {"rows": {}}})[16:])
        np.lib.format.write_array_header_1_0(npy, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
        with zipfile.ZipFile(body, "a") as archive:
            archive.writestr("rows/x.npy", npy.getvalue() + bytes(24))
        whole = body.getvalue()
        with pytest.raises(FormatError, match="damaged"):
            from_bytes(MAGIC + struct.pack("<II", VERSION, zlib.crc32(whole)) + whole)

    def test_rows_that_are_not_those_that_were_counted(self, trials: dict[str, np.ndarray], tmp_path: Path) -> None:
        path = tmp_path / "run.pedanova"
        pa.analyze(trials, "loss").save(path)
        forgery = forged(path.read_bytes(), {}, **{"rows/goal 0": np.full(len(trials["loss"]), -1.0)})
        path.write_bytes(forgery)
        with pytest.raises(FormatError, match="has rows that contradict its counts"):
            pa.load(path)

    def test_impossible_counts(self, trials: dict[str, np.ndarray]) -> None:
        a = pa.analyze(trials, "loss")
        tally = a.data.tallies["lr"]
        wrong = tally.counts.copy()
        wrong[0, 0] -= 5
        broken = dict(a.data.tallies) | {"lr": type(tally)("lr", tally.parameter, tally.levels, wrong, tally.sums)}
        with pytest.raises(FormatError, match=r"impossible|different numbers of rows"):
            from_bytes(to_bytes(Stored(a.objective, 0, a.data.levels, broken, ())))

    @given(data=st.data())
    def test_any_moments(self, content: bytes, data: st.DataObject) -> None:
        """A right checksum around any numbers: refused, or rows could have them."""
        levels = unpacked(content)[0]["levels"]
        values = data.draw(st.lists(st.floats(width=64), min_size=2, max_size=4))
        block = np.resize(np.array(values), (2, levels))
        try:
            moments = from_bytes(forged(content, {}, moments=block)).moments
        except FormatError:
            return
        assert moments is not None
        for first in range(levels):
            spread = moments.spread(first, first + 1)
            mean, variance = spread.mean, spread.variance
            assert np.isnan(mean) or variance >= 0

    @pytest.mark.parametrize("numbers", [[0.0, -1.0], [5.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]], ids=str)
    def test_impossible_moments(self, content: bytes, numbers: list[float]) -> None:
        stored = from_bytes(content)
        assert stored.moments is not None
        sums, squares = (np.full(stored.levels.count, number) for number in numbers)
        wrong = Moments(stored.moments.centres, stored.moments.rows, sums, squares)
        with pytest.raises(FormatError, match="sums of the objective that contradict"):
            from_bytes(to_bytes(replace(stored, moments=wrong)))

    @pytest.mark.parametrize("moments", [np.zeros(1), np.zeros((3, 40)), np.zeros((2, 40), dtype="S8")], ids=str)
    def test_moments_of_a_wrong_form(self, content: bytes, moments: np.ndarray) -> None:
        with pytest.raises(FormatError, match="the wrong type or shape"):
            from_bytes(forged(content, {}, moments=moments))

    def test_nothing_is_unpickled(self, content: bytes) -> None:
        with pytest.raises(FormatError, match="damaged"):
            from_bytes(forged(content, {"attachments": {"rows": {}}}, **{"rows/x": np.array([object()])}))

    @pytest.mark.parametrize("version", [0, 1, 3, 99])
    def test_another_version(self, content: bytes, version: int) -> None:
        other = content[:8] + struct.pack("<I", version) + content[12:]
        with pytest.raises(FormatError, match=rf"version {version}, .* reads only version {VERSION}; .*install"):
            from_bytes(other)

    def test_not_a_file_of_ours(self, tmp_path: Path) -> None:
        (tmp_path / "x.pedanova").write_text("x,y\n1,2\n")
        with pytest.raises(FormatError, match=r"x\.pedanova was not saved by pedanova.*save it again"):
            pa.load(tmp_path / "x.pedanova")


SAVED = Path(__file__).parent.parent / "files" / "saved"


@pytest.mark.parametrize("file", sorted(SAVED.glob("*.pedanova")), ids=lambda file: file.stem)
def test_files_of_earlier_releases_give_their_answers(file: Path) -> None:
    kept = json.loads((SAVED / f"{file.stem.partition('-')[0]}.json").read_text())
    a = pa.load(file)
    shares = {name: row.share for name, row in a.importance(0.3, **COUNTS).items()}
    assert {name: pytest.approx(share, abs=1e-9) for name, share in kept["shares"].items()} == shares
    assert (len(a), a.data.dropped) == (kept["rows"], kept["dropped"])


@pytest.mark.parametrize("file", sorted((SAVED / "damaged").iterdir()), ids=lambda file: file.stem)
def test_damaged_files_are_refused_before_they_take_memory(file: Path) -> None:
    """All but three have a right checksum; one unfolds to 128 MB."""
    tracemalloc.start()
    try:
        with pytest.raises(PedanovaError) as error:
            pa.load(file)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert file.name in str(error.value)
    assert re.search(r"; (save|write) ", str(error.value))


def test_any_header_with_a_right_checksum_is_read_or_refused(tmp_path: Path) -> None:
    content, wrong = (SAVED / "0.1.0-rows.pedanova").read_bytes(), tmp_path / "wrong.pedanova"
    header = unpacked(content)[0]
    odd = [None, True, -1, 0, 3.5, 1e300, "x", "", [], {}, [[1]], 2**70, float("nan"), float("inf")]
    choose = Random(0)
    for place in places_in(header):
        for value in choose.sample(odd, 1):
            wrong.write_bytes(forged(content, replaced(header, place, value)))
            tame(lambda: [str((a := pa.load(wrong)).importance(0.3, **COUNTS)), *map(str, a.notes)])


def test_arrays_of_any_type_are_read_or_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.pedanova"
    for file in sorted(SAVED.glob("*.pedanova"))[::2]:
        content = file.read_bytes()
        for name, array in unpacked(content)[1].items():
            for other in (array.astype("U2"), array.astype("c16"), np.ones(array.shape, "i1"), array[:-1]):
                wrong.write_bytes(forged(content, {}, **{name: other}))
                tame(lambda: str(pa.load(wrong).importance(0.3, **COUNTS)))
