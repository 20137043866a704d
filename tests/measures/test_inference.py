"""p-values and intervals of shares: known tables, and laws that hold for every table."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import pedanova as pa
from helpers.common import contrast_of, measured
from pedanova.counting.contrasts import Contrast
from pedanova.measures.distributions import holm
from pedanova.measures.importance import Importance, measure, pieces_of
from pedanova.measures.inference import (
    MOST_FOR_DRAWS,
    CoarseContrast,
    LimitLaw,
    SharedDraws,
    Sureness,
    coarsen_for_draws,
    coarsen_for_kernel,
    infer,
    interval,
    permutation,
    random_targets,
    resampled_shares,
    shrunk_chances,
    with_sureness,
)
from pedanova.measures.question import Question
from pedanova.measures.share import share_of
from pedanova.measures.smoothing import scott_bandwidth, smooth
from pedanova.space.grid import blocks_of, grid_of

A_TARGET, A_REGION = np.array([9, 5, 3, 2, 1, 0]), np.array([20, 30, 25, 15, 6, 4])
B_TARGET, B_REGION = np.array([4, 0, 0, 0]), np.array([5, 5, 5, 5])
LETTERS = pa.Categorical(list("abcdef"))
A = contrast_of(LETTERS, A_TARGET, A_REGION)
SWITCH = pa.Switch("phase", {"a": pa.Float(0, 1), "b": pa.Categorical(["u", "v", "w"])})
NORMAL = 1.959964
DRAWS = 4000


def sure(contrast: Contrast, *others: Contrast, **options: object) -> Sureness:
    """Of the first contrast, asked together with the others."""
    named = {name: options[name] for name in ("baseline", "smoothing") if name in options}
    kinds = {"baseline": "region", "smoothing": "auto", **named}
    rows = [measure(c, **kinds) for c in (contrast, *others)]
    return infer([contrast, *others], rows, Question(**{"draws": 200, **options}))[0]


def random_contrast(
    parameter: object, rows: int, inside: int, *, slope: float = 0.0, seed: int = 0, name: str = "x"
) -> Contrast:
    """Uniform rows; the target prefers low cells by the slope."""
    rng = np.random.default_rng(seed)
    grid = grid_of(parameter)
    cells = rng.integers(0, grid.cells, rows)
    best = np.argsort(slope * cells / grid.cells + rng.random(rows))[:inside]
    target, region = (np.bincount(c, minlength=grid.width) for c in (cells[best], cells))
    return Contrast(name, grid, target, region)


class TestKnownTables:
    @pytest.mark.parametrize(
        ("target", "region", "exact"),
        [
            (A_TARGET, A_REGION, (503 / 1200, 503 / 4800, 5 / 99, 8599 / 150400, 8599 / 37600)),
            (B_TARGET, B_REGION, (3, 3 / 4, 3 / 19, 45 / 64, 45 / 16)),
        ],
    )
    def test_histograms(self, target: np.ndarray, region: np.ndarray, exact: tuple[float, ...]) -> None:
        """Divergence, share, its mean under chance, and both beyond chance."""
        row = measured(np.append(target, [0, 0]), np.append(region, [0, 0]))
        part = row.n_target / row.n_region
        chance = (row.raw_share - row.share) / (1 - row.share)
        found = (row.divergence, row.raw_share, chance, row.share, row.share * (1 - part) / part)
        assert found == pytest.approx(exact, rel=1e-12)

    @pytest.mark.parametrize(
        ("width", "exact"),
        [
            (0.8, (0.18018817863474812, 1.3631351181194367, 0.04504704465868703, 0.03171468386286983)),
            (2.0, (0.04119772328112159, 0.23555827959470266, 0.010299430820280397, 0.00793894399598535)),
        ],
    )
    def test_smoothed(self, width: float, exact: tuple[float, ...]) -> None:
        """Divergence, degrees of freedom, share, and the share beyond chance."""
        contrast = contrast_of(pa.Ordinal(list(range(6))), A_TARGET, A_REGION)
        row = measure(contrast, baseline="region", smoothing=width)
        sizes = [(int(contrast.target.sum()), int(contrast.region.sum()))]
        freedom = pieces_of([contrast], contrast.grid.blocks[0], "region", width, sizes)[0].noise - 1
        assert (row.divergence, freedom, row.raw_share, row.share) == pytest.approx(exact, rel=1e-10)

    @pytest.mark.parametrize("width", ["none", 0.8, 2.0])
    def test_chance_alone_has_a_share_of_zero(self, width: float | str) -> None:
        coarse = CoarseContrast.of(contrast_of(pa.Ordinal(list(range(6))), A_TARGET, A_REGION), [1, 1, 1])
        rng = np.random.default_rng(0)
        drawn = random_targets(coarse.region, 20, 20_000, rng)
        shares = coarse.scores(drawn, "region", width)
        assert abs(shares.mean()) < 4 * shares.std() / sqrt(20_000)

    def test_uniform_baseline_is_unbiased(self) -> None:
        row = measured(np.append(A_TARGET, [0, 0]), np.append(A_REGION, [0, 0]), baseline="uniform")
        assert row.divergence == pytest.approx(4 / 5, rel=1e-13)
        assert row.share == pytest.approx(20 / 80 * 11 / 19, rel=1e-13)

    def test_permutation_meets_the_exact_p_value(self) -> None:
        """Four of four in one cell of five: 4 · C(5, 4) / C(20, 4) = 4/969."""
        contrast = contrast_of(pa.Categorical(list("abcd")), B_TARGET, B_REGION)
        rng, draws = np.random.default_rng(0), 20_000
        p = permutation(contrast, Question(draws=draws), rng)
        assert abs(p - 4 / 969) < 4 * sqrt(4 / 969 / draws)


class TestHolm:
    def test_known_example(self) -> None:
        assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
        assert holm([0.5]) == [0.5]
        assert holm([0.4, 0.9]) == pytest.approx([0.8, 0.9])

    @given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=20))
    def test_adjusted_values_are_larger_and_keep_their_order(self, p_values: list[float]) -> None:
        adjusted = holm(p_values)
        assert all(p <= a <= 1.0 for p, a in zip(p_values, adjusted, strict=True))
        order = np.argsort(p_values, kind="stable")
        assert (np.diff(np.array(adjusted)[order]) >= 0).all()
        assert min(adjusted) == pytest.approx(min(1.0, len(p_values) * min(p_values)))

    def test_all_parameters_settle_together_what_is_significant(self) -> None:
        rows = [measure(A, baseline="region", smoothing="auto")] * 3
        found = [Sureness(0.0, 0.1, p, 0.01) for p in (0.02, 0.9, 0.01)]
        assert [row.significant for row in with_sureness(rows, found)] == [True, False, True]
        more = [*found, Sureness(0.0, 0.1, 0.5, 0.01)]
        assert [row.significant for row in with_sureness([*rows, rows[0]], more)] == [False, False, True, False]
        assert [row.p_value for row in with_sureness(rows, found)] == [0.02, 0.9, 0.01]


CELLS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=30)


def checked(cells: list[tuple[int, int]], *, ordered: bool, baseline: str) -> tuple[Importance, Sureness]:
    target, rest = np.array(cells).T
    assume(target.sum() > 0 and rest.sum() > 0)
    labels = list(range(len(cells)))
    parameter = pa.Ordinal(labels) if ordered else pa.Categorical(labels)
    contrast = contrast_of(parameter, target, target + rest)
    row = measure(contrast, baseline=baseline, smoothing="auto")
    return row, infer([contrast], [row], Question(baseline=baseline, draws=100))[0]


class TestEveryTable:
    @settings(max_examples=60)
    @given(CELLS, st.booleans())
    def test_bounds_against_the_region(self, cells: list[tuple[int, int]], ordered: bool) -> None:
        row, found = checked(cells, ordered=ordered, baseline="region")
        assert 0.0 < found.p_value <= 1.0
        assert 0.0 <= found.low <= found.high <= 1.0 + 1e-12
        assert found.low - 0.01 <= max(row.share, 0.0) <= found.high + 0.01

    @settings(max_examples=40)
    @given(CELLS, st.booleans())
    def test_bounds_against_a_uniform_draw(self, cells: list[tuple[int, int]], ordered: bool) -> None:
        row, found = checked(cells, ordered=ordered, baseline="uniform")
        assert 0.0 < found.p_value <= 1.0
        assert 0.0 <= found.low <= found.high < np.inf
        assert found.low - 0.01 <= max(row.share, 0.0) <= found.high + 0.01

    @settings(max_examples=100)
    @given(st.lists(st.integers(0, 9), min_size=2, max_size=80), st.integers(0, 99))
    def test_bandwidths_of_many_draws_are_those_of_each(self, counts: list[int], seed: int) -> None:
        assume(sum(counts) >= 2)
        rng = np.random.default_rng(seed)
        draws = np.array([rng.permutation(counts) for _ in range(5)])
        each = [scott_bandwidth(draw) for draw in draws]
        np.testing.assert_allclose(scott_bandwidth(draws.astype(float)), each, rtol=1e-9, atol=1e-7)


class TestScores:
    """Folded scores of the target itself are the share that `measure` finds."""

    @pytest.mark.parametrize("baseline", ["region", "uniform"])
    def test_categories_exactly(self, baseline: str) -> None:
        coarse = coarsen_for_draws(A, "auto")
        share = measure(A, baseline=baseline, smoothing="auto").share
        assert coarse.scores(coarse.target[None, :], baseline, "auto")[0] == pytest.approx(share, rel=1e-12)

    @pytest.mark.parametrize("baseline", ["region", "uniform"])
    @pytest.mark.parametrize("smoothing", ["none", 0.0, 1.5, 30.0])
    def test_a_given_kernel_exactly_where_nothing_is_coarse(self, baseline: str, smoothing: object) -> None:
        contrast = random_contrast(pa.Int(1, 60), 800, 60, slope=1.0)
        coarse = coarsen_for_draws(contrast, smoothing)
        share = measure(contrast, baseline=baseline, smoothing=smoothing).share
        assert coarse.steps == (1, 1, 1)
        found = coarse.scores(coarse.target[None, :], baseline, smoothing)[0]
        assert found == pytest.approx(share, rel=1e-9)

    @pytest.mark.parametrize("baseline", ["region", "uniform"])
    @pytest.mark.parametrize("inside", [10, 100, 1000])
    def test_a_smoothed_float_nearly(self, baseline: str, inside: int) -> None:
        contrast = random_contrast(pa.Float(0, 1), 10 * inside, inside, slope=2.0)
        coarse = coarsen_for_draws(contrast, "auto")
        assert len(coarse.target) <= MOST_FOR_DRAWS + 2
        share = measure(contrast, baseline=baseline, smoothing="auto").share
        assert coarse.scores(coarse.target[None, :], baseline, "auto")[0] == pytest.approx(share, rel=0.06)

    def test_conditional_parameter(self) -> None:
        contrast = conditional(seed=0)
        coarse = coarsen_for_draws(contrast, "auto")
        share = measure(contrast, baseline="region", smoothing="auto").share
        assert coarse.scores(coarse.target[None, :], "region", "auto")[0] == pytest.approx(share, rel=0.06)


class TestFolding:
    """Cells are put together for p-values only where the kernel would blur them anyway."""

    def test_categories_are_never_put_together(self) -> None:
        """Every other of 100 categories is good: of neighbours put together nothing could be told."""
        target, region = np.tile([4, 0], 50), np.full(100, 10)
        contrast = contrast_of(pa.Categorical(list(range(100))), target, region)
        assert sure(contrast).low > 0.1
        assert sure(contrast).p_value == 1 / 201

    @pytest.mark.parametrize("smoothing", ["none", 0.4])
    def test_nor_are_levels_that_are_not_to_be_smoothed(self, smoothing: object) -> None:
        target, region = np.tile([4, 0], 50), np.full(100, 10)
        contrast = contrast_of(pa.Int(1, 100), target, region)
        assert sure(contrast, smoothing=smoothing).p_value < 0.05
        assert sure(contrast, smoothing="auto").p_value > 0.5  # a kernel sees no difference at all

    @pytest.mark.parametrize("baseline", ["region", "uniform"])
    def test_a_region_in_a_corner_of_the_range_is_seen_as_sharply(self, baseline: str) -> None:
        """Ten cells of 1001: the same rows, wherever the range ends, have the same p-value."""
        rng = np.random.default_rng(0)
        cells = rng.integers(305, 315, 1000)
        best = np.argsort(cells + rng.normal(0, 6, 1000))[:40]
        target, region = (np.bincount(c, minlength=1001) for c in (cells[best], cells))
        found = sure(contrast_of(pa.Float(0, 1), target, region), baseline=baseline)
        assert found.low > 0.0
        assert found.p_value == 1 / 201

    def test_folding_hangs_on_the_region_alone(self) -> None:
        one, other = (random_contrast(pa.Float(0, 1), 1000, 100, slope=s) for s in (0.0, 5.0))
        assert coarsen_for_draws(one, "auto").steps == coarsen_for_draws(other, "auto").steps


class TestDraws:
    def test_the_same_seed_gives_the_same_numbers(self) -> None:
        contrast = random_contrast(pa.Float(0, 1), 1000, 50, slope=0.5)
        assert sure(contrast, seed=3) == sure(contrast, seed=3)

    def test_another_seed_gives_nearly_the_same(self) -> None:
        contrast = random_contrast(pa.Float(0, 1), 1000, 50, slope=0.05)
        one, other = (sure(contrast, seed=s, draws=2000) for s in (1, 2))
        assert one != other
        assert 0.001 < one.p_value < 0.5
        assert other.p_value == pytest.approx(one.p_value, abs=0.1)  # a first look of 500 draws
        assert other.high == pytest.approx(one.high, rel=0.3)  # seeds differ by 8 %
        assert other.deviation == pytest.approx(one.deviation, rel=0.1)

    @pytest.mark.parametrize(("rows", "inside"), [(400, 40), (4000, 800)])
    def test_numbers_do_not_hang_on_the_other_parameters(self, rows: int, inside: int) -> None:
        kinds = {"f": pa.Float(0, 1), "i": pa.Int(1, 20), "c": LETTERS}
        contrasts = [random_contrast(k, rows, inside, slope=0.3, name=n) for n, k in kinds.items()]
        alone = [sure(contrast) for contrast in contrasts]
        together = infer(
            contrasts[::-1],
            [measure(c, baseline="region", smoothing="auto") for c in contrasts[::-1]],
            Question(draws=200),
        )
        assert together == alone[::-1]

    def test_names_of_categories_do_not_matter(self) -> None:
        order = np.array([3, 0, 5, 1, 4, 2])
        moved = contrast_of(LETTERS, A_TARGET[order], A_REGION[order])
        one, other = (sure(contrast, draws=4000) for contrast in (A, moved))
        assert abs(one.p_value - other.p_value) < 4 * sqrt(2 * 0.06 / 4000)
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=0.02)

    @pytest.mark.parametrize("parameter", [pa.Float(0, 1), pa.Int(1, 20), LETTERS])
    def test_ten_times_the_rows_narrow_the_interval(self, parameter: object) -> None:
        few = random_contrast(parameter, 600, 60, slope=0.8)
        many = Contrast("x", few.grid, 10 * few.target, 10 * few.region)
        one, ten = sure(few, smoothing=1.0), sure(many, smoothing=1.0)
        assert ten.high - ten.low < 0.6 * (one.high - one.low)
        assert ten.p_value <= one.p_value


def conditional(seed: int, missing: int = 60) -> Contrast:
    """Two domains and rows without a value; in one domain low values are better."""
    rng = np.random.default_rng(seed)
    grid = grid_of(SWITCH)
    floats, letters = rng.integers(0, 1001, 500), rng.integers(1001, 1004, 240)
    cells = np.concatenate([floats, letters, np.full(missing, grid.missing)])
    best = np.argsort(np.where(cells <= 1000, cells / 1000, 0.5) + rng.random(len(cells)))[:90]
    target, region = (np.bincount(c, minlength=grid.width) for c in (cells[best], cells))
    return Contrast("x", grid, target, region)


class TestConditional:
    def test_several_domains_and_missing_rows(self) -> None:
        found = sure(conditional(seed=0))
        assert found.p_value == 1 / 201
        assert 0.0 < found.low < found.high < 1.0

    def test_uniform_baseline(self) -> None:
        found = sure(conditional(seed=0), baseline="uniform")
        assert found.p_value < 0.05
        assert 0.0 < found.low < found.high

    def test_a_domain_without_a_row(self) -> None:
        contrast = conditional(seed=1)
        keep = np.arange(contrast.grid.width) < 1001
        target, region = contrast.target * keep, contrast.region * keep
        both = sure(Contrast("x", contrast.grid, target, region))
        alone = sure(contrast_of(pa.Float(0, 1), target[:1001], region[:1001]))
        assert both.p_value == alone.p_value
        assert (both.low, both.high) == pytest.approx((alone.low, alone.high), abs=0.01)

    def test_activity_alone_is_seen(self) -> None:
        target, region = np.array([2, 3, 40, 0]), np.array([100, 100, 100, 0])
        found = sure(Contrast("x", grid_of(pa.Categorical(["a", "b"])), target, region))
        assert found.p_value == 1 / 201
        assert found.low > 0.05


class TestUniformBaseline:
    def test_many_rows_are_drawn_by_the_law_and_scored_as_the_target_is(self) -> None:
        """Bandwidths are interpolated between rows, and counts cut at 0 are parts of the target's rows."""
        grid, rng = grid_of(pa.Float(0, 1)), np.random.default_rng(0)
        cells = (grid.cells * rng.beta(20, 20, 5100)).astype(np.int64)  # tails of rare cells
        target, region = (np.bincount(some, minlength=grid.width) for some in (cells[:510], cells))
        coarse = coarsen_for_draws(Contrast("x", grid, target, region), "auto")
        targets, end = random_targets(coarse.region, 510, 200, rng).astype(np.float64), coarse.blocks[0].stop
        scores = coarse.scores(targets, "uniform", "auto")
        assert np.ptp(targets.sum(axis=1)) > 0.1
        for draw, width, score in zip(targets, coarse.widths(targets, "auto")[0], scores, strict=True):
            matrix = np.stack([smooth(row, width) for row in np.eye(end)], axis=1)
            part, base = draw[:end] / 510, matrix @ coarse.prior[:end]
            square, noise = (np.sum(one / base) for one in ((matrix @ part) ** 2, matrix**2 @ part))
            assert score == pytest.approx(share_of(square - 1.0, noise, 510 / 4590, 510, 5100, "uniform"), abs=1e-9)


class TestFewRows:
    @pytest.mark.parametrize(("inside", "rows"), [(4, 100), (97, 100)])
    def test_too_few_rows_to_draw_from(self, inside: int, rows: int) -> None:
        contrast = random_contrast(LETTERS, rows, inside)
        found = sure(contrast)
        assert 0.0 <= found.low <= found.high <= 1.0
        assert np.isnan(found.deviation)

    @pytest.mark.parametrize("baseline", ["region", "uniform"])
    @pytest.mark.parametrize("parameter", [LETTERS, pa.Float(0, 1)])
    @pytest.mark.parametrize("inside", [1, 2, 4])
    def test_the_interval_of_few_rows_holds_the_share(self, inside: int, parameter: object, baseline: str) -> None:
        contrast = random_contrast(parameter, 80, inside, slope=9.0)
        row, found = measure(contrast, baseline=baseline, smoothing="auto"), sure(contrast, baseline=baseline)
        assert found.low <= max(0.0, row.share) <= found.high

    def test_a_target_of_nearly_all_rows_keeps_its_odds_against_a_uniform_draw(self) -> None:
        """Five rows are left over: were they drawn anew, the odds would wander from 16 to 140."""
        target, rest = np.repeat([20, 0], [7, 18]), np.repeat([0, 1], [20, 5])
        contrast = contrast_of(pa.Categorical(list(range(25))), target, target + rest)
        share = measure(contrast, baseline="uniform", smoothing="auto").share
        found = sure(contrast, baseline="uniform")
        assert 0.8 * share < found.low < share < found.high < 1.2 * share

    def test_blocks_cover_every_cell_once(self) -> None:
        grid = grid_of(SWITCH)
        covered = [cell for block in blocks_of(grid) for cell in range(block.start, block.stop)]
        assert covered == list(range(grid.width))

    def test_interval_and_permutation_stand_alone(self) -> None:
        rng = np.random.default_rng(0)
        row = measure(A, baseline="region", smoothing="auto")
        low, high, deviation = interval(A, row, lambda: SharedDraws.drawn(20, 300, rng), Question(), rng)
        assert low <= row.share <= high
        assert deviation > 0
        np.testing.assert_allclose(smooth(A.region / 100, 0.0), A.region / 100)


def contrast(shape: str, slope: float, rows: int = 40_000, inside: int = 4000) -> Contrast:
    """A parameter whose low values are better by the slope; rows lie evenly, or thin out to both ends."""
    rng = np.random.default_rng(5)
    if shape == "conditional":
        grid = grid_of(SWITCH)
        letters, floats = rng.integers(1001, 1004, rows // 4), rng.integers(0, 1001, rows - rows // 4)
        cells = np.concatenate([floats, letters])
        values = cells / 1001
    elif shape == "categories":  # more than a matrix may have, but nothing is smoothed
        grid, rows, inside = grid_of(pa.Categorical(list(range(600)))), 10 * rows, 10 * inside
        cells = rng.integers(0, 600, rows)
        values = cells / 600
    else:
        grid = grid_of(pa.Float(0, 1))
        values = rng.random(rows) if shape == "even" else rng.beta(2, 3, rows)
        cells = np.minimum((values * grid.cells).astype(int), grid.cells - 1)
    best = np.argsort(slope * values + rng.random(rows))[:inside]
    target, region = (np.bincount(c, minlength=grid.width) for c in (cells[best], cells))
    return Contrast("x", grid, target, region)


def law_of(one: Contrast) -> tuple[LimitLaw, CoarseContrast, list[float]]:
    coarse, widths = coarsen_for_kernel(one, "auto")
    law = LimitLaw.of(coarse, widths)
    assert law is not None
    return law, coarse, widths


@pytest.mark.parametrize("shape", ["even", "thin", "conditional", "categories"])
@pytest.mark.parametrize("slope", [0.0, 0.1, 1.5])
def test_bounds_are_those_of_draws(shape: str, slope: float) -> None:
    """Ends of 500 draws, as many as are used, scatter by an eighth of a deviation: these are nearer."""
    law, coarse, widths = law_of(contrast(shape, slope))
    rng = np.random.default_rng(1)
    likely = shrunk_chances(coarse, 0.9, "region")
    known = law.resampled(likely)
    drawn = resampled_shares(coarse, widths, likely, SharedDraws.drawn(4000, DRAWS, rng), "region", rng)
    assert known is not None
    deviation = float(drawn.std())
    assert known.deviation == pytest.approx(deviation, rel=0.06)
    assert known.mean == pytest.approx(drawn.mean(), abs=0.08 * deviation)
    ends = known.quantile(-NORMAL), known.quantile(NORMAL)
    assert ends == pytest.approx(tuple(np.percentile(drawn, [2.5, 97.5])), abs=0.2 * deviation)


def test_where_single_rows_are_felt_draws_must_tell() -> None:
    one = contrast("even", 0.0, rows=8000, inside=800)
    lonely = np.arange(one.grid.width) == 700
    crowd = (np.arange(one.grid.width) < 300) | lonely
    alone = Contrast("x", one.grid, one.target * crowd * ~lonely + lonely, one.region * crowd * ~lonely + lonely)
    law, coarse, _ = law_of(alone)
    assert law.resampled(shrunk_chances(coarse, 0.9, "region")) is None
    letters = contrast_of(pa.Categorical(list("abc")), [3000, 500, 500], [20_000, 10_000, 10_000])
    law, coarse, _ = law_of(letters)
    assert law.resampled(shrunk_chances(coarse, 0.9, "region")) is None  # two squares: their law is far from normal
    many = contrast_of(pa.Categorical(list(range(500))), [2] * 500, [20] * 500)
    law, coarse, _ = law_of(many)
    assert law.resampled(shrunk_chances(coarse, 0.9, "region")) is None  # two target rows in each cell


def test_p_values_of_noise_are_even() -> None:
    rng = np.random.default_rng(3)
    grid = grid_of(pa.Float(0, 1))
    found = []
    for _ in range(300):
        cells = np.minimum((rng.beta(1, 2, 20_000) * grid.cells).astype(int), grid.cells - 1)
        target, region = (np.bincount(c, minlength=grid.width) for c in (cells[:2000], cells))
        found.append(permutation(Contrast("x", grid, target, region), Question(), rng))
    for part in (0.02, 0.05, 0.15, 0.5, 0.8):
        assert np.mean(np.array(found) <= part) == pytest.approx(part, abs=3.5 * np.sqrt(part * (1 - part) / 300))
