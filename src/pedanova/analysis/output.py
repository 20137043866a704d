"""Output methods of `Analysis`: tables of rows, saved files, figures and HTML pages. Saved files are also read here."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from pedanova.analysis.options import Opening
from pedanova.base.files import Attachment
from pedanova.base.lazy import LazyModule
from pedanova.base.notes import Note
from pedanova.base.table import PAINTERS, html_table
from pedanova.base.terminal import TableColumn
from pedanova.base.threads import as_threads
from pedanova.counting.countable import InMemory
from pedanova.counting.few_rows import hidden, most_rows, sample_from, sample_kept
from pedanova.counting.store import Stored, named, read_tallies, write_tallies
from pedanova.data.history import History, LearningCurves, curves_of, goal_named
from pedanova.data.observations import rows_from, rows_kept
from pedanova.data.trials import Trials
from pedanova.errors import FormatError, PedanovaError
from pedanova.measures.importance import Importances
from pedanova.measures.question import DEFAULT, INNER, REGION, TARGET, How, Question
from pedanova.measures.questions import ask
from pedanova.measures.questions.trial_data import TrialData, sample_model
from pedanova.report.sentences import contents_in_words
from pedanova.space.parameters import Space, in_words

if TYPE_CHECKING:
    from pedanova.report.figures.plots import Plots
    from pedanova.report.live.notebook import LiveWidget
    from pedanova.report.live.server import Explorer
    from pedanova.report.live.widget import Widget


class Output:
    """The base class of `Analysis` that contains its output methods."""

    data: TrialData
    opening: Opening

    @property
    def objective(self) -> str:
        """The name of the objective."""
        return self.data.objective

    @property
    def direction(self) -> str:
        """``"minimize"`` or ``"maximize"``."""
        return self.data.direction

    @property
    def space(self) -> Space:
        """The search space: given by you, read from the log, or guessed from the data."""
        return self.data.space

    @property
    def notes(self) -> tuple[Note, ...]:
        """Sentences on what was guessed, dropped or merged."""
        return self.data.notes

    def __len__(self) -> int:
        return self.data.rows

    def __repr__(self) -> str:
        return f"Analysis({contents_in_words(self.data)})"

    def _repr_html_(self) -> str:
        """An HTML table of the search space, with notes on what was assumed, and calls to try next."""
        names, domains = list(self.data.space), [in_words(parameter) for parameter in self.data.space.values()]
        columns = [TableColumn("parameter", names, "name"), TableColumn("domain", domains, "words")]
        title = f"{contents_in_words(self.data)}. Next: .importance(), .densities(name), .reduce(), .widget()"
        return html_table(title, columns, notes=self.data.notes)

    def trials(
        self,
        target: object = None,
        region: object = DEFAULT.region,
        *,
        sort: str | None = None,
        descending: bool = False,
        offset: int = 0,
        limit: int | None = 50,
        sample: int | None = None,
        params: Sequence[str] | None = None,
        of: str = DEFAULT.of,
        seed: int = DEFAULT.seed,
    ) -> Trials:
        """The rows that are not dropped, with their parameters and objective, best first.

        Parameters
        ----------
        target, region, of
            As in `importance`. If a target is given, the column ``in`` is "target" for target rows and
            "region" for the other rows of the region.
        sort, descending
            The column to sort by (any column of the table, an objective or ``"row"``), and whether the largest values
            come first.
            By default the best rows come first. Rows without a value always come last.
        offset, limit
            The index of the first row to show, and the number of rows (None for all).
        sample, seed
            The number of rows to draw at random (None for all rows), and the seed.
        params
            The parameters and other columns of the table to show; None for all parameters.

        Returns
        -------
        Trials
            A table: ``.to_pandas()``, ``.to_csv()``.

        Examples
        --------
        >>> a.within("units > 100").trials(sort="units", limit=1).to_dict()["units"]
        [101]
        """
        question = Question(target, region, of=of, seed=seed)
        shown = {"sort": sort, "descending": descending, "offset": offset, "limit": limit, "sample": sample}
        return ask.trial_table(self.data, question, params=params, **shown)  # type: ignore[arg-type]

    def history(
        self,
        target: object = None,
        region: object = DEFAULT.region,
        *,
        objective: str | None = None,
        params: Sequence[str] | None = (),
        of: str = DEFAULT.of,
        seed: int = DEFAULT.seed,
    ) -> History:
        """The trials in the order in which they were run, with the best so far; also failed and pruned trials.

        Parameters
        ----------
        target, region, of, seed
            As in `trials`.
        objective
            The objective, if the analysis has several; None for the first.
        params
            The parameters to list with each trial; None for all.

        Returns
        -------
        History
            A table with the columns ``"best"`` and ``"state"``; ``.plot()`` draws it.

        Examples
        --------
        >>> a.first(30).history(params=["units"])
        error of 30 trials: the best, 0.0264, at row 13:
        row   error  units
        ───  ──────  ─────
        0       0.9      6
        1     0.143      7
        10   0.0334     26
        13   0.0264     30
        """
        question = Question(target, region, of=of, seed=seed)
        return ask.history_table(self.data, question, objective=objective, params=params)

    def curves(self, objective: str | None = None) -> LearningCurves:
        """The intermediate values of all trials, if the log has them; also of failed and pruned trials.

        Parameters
        ----------
        objective
            The objective, if the analysis has several; None for the first.

        Returns
        -------
        LearningCurves
            One entry for every reported value; ``.plot()`` draws them.

        Raises
        ------
        QueryError
            The source has no intermediate values, or rows were selected.

        Examples
        --------
        >>> import optuna
        >>> import pedanova as pa
        >>> study, space = optuna.create_study(), {"x": optuna.distributions.FloatDistribution(0, 1)}
        >>> for x in (0.1, 0.5, 0.9):
        ...     steps = {1: 1.0, 2: x}
        ...     trial = optuna.create_trial(params={"x": x}, distributions=space, value=x, intermediate_values=steps)
        ...     study.add_trial(trial)
        >>> pa.analyze(study).curves().to_dict()["step"]
        [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]
        """
        observed = self.data.observed()
        return curves_of(observed, goal_named(observed, objective))

    def save(self, path: str | os.PathLike[str], *, rows: bool | None = None) -> None:
        """Save the analysis in a small file; `load` reads the file, and the loaded analysis gives the same answers.

        Parameters
        ----------
        path
            The file to write; an existing file is replaced.
        rows
            Whether to save the rows too. With all rows, the file can answer every question (conditions, pairs,
            `reduce`, and the model for few rows). By default all rows are saved if there are at most 20,000 (fewer if
            there are more than 50 parameters). For longer tables, about 2,000 rows are saved, enough to recognise
            repeated configurations and copied columns. If False, no values are saved, only the objectives of about
            2,000 rows and a hash of their configurations, so that repeated configurations are still recognised.

        Examples
        --------
        >>> import tempfile, pathlib, pedanova as pa
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.pedanova"
        >>> pa.analyze(pa.demo_trials(), "error").save(path)
        >>> len(pa.load(path))
        1000
        """
        data = self.data
        attachments = attachments_of(data, rows)
        lost = [] if attachments else data.lost_repeats("the rows were not saved")
        notes = (*data.notes, *lost)
        kept = (data.objective, data.dropped, data.levels, data.tallies, notes)
        write_tallies(path, Stored(*kept, moments=data.moments_to_keep(), attachments=attachments))

    @property
    def plot(self) -> Plots:
        """Figures: ``a.plot.importance()``, ``.densities()``, ``.profile()``, ``.pair("lr", "depth")`` …"""
        from pedanova.report.figures.plots import Plots

        return Plots(self.data)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "Hyperparameter importance",
        questions: Sequence[tuple[object, object]] = ((TARGET, REGION), INNER),
        ladder: Iterable[object] | None = None,
        reduce: bool = True,
        within: object = None,
        group: str | None = None,
        budget: str | None = None,
        **how: Unpack[How],
    ) -> Path:
        """Write one interactive HTML file; docs/report.md describes its contents.

        Parameters
        ----------
        path
            The file to write; an existing file is replaced.
        title
            The title of the page.
        questions
            Pairs (target, region). The page opens with the first pair, and offers the others.
        ladder
            The quantiles that the sliders of the page offer, such as ``[0.01, 0.1, 0.5, 1.0]``.
        reduce
            Whether to compute a smaller search space for the page (`reduce`). This may take some seconds.
        within
            The rows to use, as in `Analysis.within`; None for all rows.
        group
            A column that names the study of each row; a tab then shows the rankings of all studies side by side.
        budget
            The budgets for the tab *Budgets*, as in `along`; None for the budgets that the source records.
        how
            The other options of `importance`; `baseline` can be changed on the page.

        Returns
        -------
        pathlib.Path
            The file that was written.

        Examples
        --------
        >>> import tempfile, pathlib, pedanova as pa
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
        >>> a = pa.analyze(pa.demo_trials(), "error")
        >>> a.report(path, ladder=[0.1, 1.0], questions=[(0.1, 1.0)], estimator="counts", reduce=False) == path
        True
        >>> path.stat().st_size < 1_000_000
        True
        """
        from pedanova.base.files import check_output_path, write_file
        from pedanova.report.page.cards import payload_of
        from pedanova.report.page.html import draw_page

        place = check_output_path(path)  # before the long work
        shown: dict[str, Any] = {"ladder": ladder, "reduce": reduce, "within": within, "group": group, "budget": budget}
        payload = payload_of(self.data, title, questions, opening=self.opening, **shown, **how)
        write_file(place, draw_page(payload).encode())
        return place

    def widget(self, *, height: int = 900, live: bool | None = None, **options: Any) -> LiveWidget | Widget:
        """The live page in a notebook cell; its ``selection`` can be read and set (docs/explore.md).

        Parameters
        ----------
        height
            The height of the frame in pixels.
        live
            Whether rows can be selected. The default is True if anywidget is installed and the rows are available.
        options
            The options of `report`.

        Returns
        -------
        LiveWidget or Widget
            The object that a notebook shows; a `LiveWidget` has ``selection`` and ``importance()``.

        Examples
        --------
        >>> w = a.widget()
        >>> w.selection = {"solver": ["adam"]}
        >>> w.selection
        {'solver': ['adam']}
        """
        from pedanova.report.live.widget import cell_of

        return cell_of(self.data, height=height, live=live, opening=self.opening, **options)

    def explore(
        self,
        *,
        title: str = "Hyperparameter importance",
        start: tuple[object, object] = (DEFAULT.target, DEFAULT.region),
        source: str = "",
        group: str | None = None,
        port: int = 0,
        open: bool = True,  # noqa: A002  (what the option is called everywhere)
        wait: bool | None = None,
        **how: Unpack[How],
    ) -> Explorer:
        """Serve a live page, on this machine only, until Ctrl-C or ``close()`` (docs/explore.md).

        Parameters
        ----------
        title
            The title of the page.
        start
            The target and the region that the page shows first, as a pair of quantiles or values of the objective.
        source
            The page shows shell commands such as ``pedanova analyze SOURCE``. This text replaces SOURCE.
        group
            A column that names the study of each row; the page then shows the rankings of all studies side by side.
        port
            The port on 127.0.0.1; 0 for a free port.
        open
            Whether to open the page in the browser.
        wait
            Whether to wait until Ctrl-C. If False, the page is served in the background until ``close()``. If None, the
            call waits, except in a notebook.
        how
            The other options of `importance`.

        Returns
        -------
        Explorer
            ``url`` is the address of the page; ``close()`` stops the server.

        Examples
        --------
        >>> with a.explore(open=False, wait=False) as page:
        ...     page.url.partition("?")[0].rpartition(":")[0]
        'http://127.0.0.1'
        """
        from pedanova.report.live.server import explore
        from pedanova.report.live.session import Session

        about: dict[str, Any] = {"source": source or self.opening.shell, "opening": self.opening.python}
        session = Session(self.data, title=title, start=start, options=how, group=group, **about)
        return explore(session, port=port, show=open, wait=not in_notebook() if wait is None else wait)


draw, trials = LazyModule("pedanova.report.figures.draw"), LazyModule("pedanova.report.figures.trials")
PAINTERS[Importances] = lambda result, ax, metric: draw.draw_importances(result, ax, metric=metric)
PAINTERS[History] = lambda result, ax: trials.draw_history(result, ax)
PAINTERS[LearningCurves] = lambda result, ax: trials.draw_curves(result, ax)


def read_data(path: str | os.PathLike[str]) -> TrialData:
    stored = read_tallies(path)
    kept = (stored.objective, stored.levels, stored.tallies, stored.notes, stored.dropped)
    try:
        return TrialData(*kept, _moments=stored.moments, **from_attachments(stored))
    except FormatError as error:
        raise named(error, path) from None


def attachments_of(data: TrialData, rows: bool | None) -> dict[str, Attachment]:
    """The rows to store in a saved file: all, a sample, or none, depending on the option `rows` of `save`."""
    if rows or (rows is None and data.observations is not None and data.rows <= most_rows(data.space)):
        return {"rows": rows_kept(data.observed())}
    few = data.configurations
    return {} if few is None else {"sample": sample_kept(few if rows is None else hidden(few, data.rows))}


def from_attachments(stored: Stored) -> dict[str, Any]:
    """The fields of `TrialData` that are stored as attachments of a saved file."""
    space = Space({name: tally.parameter for name, tally in stored.tallies.items()})
    kept, threads = stored.attachments, as_threads(None)
    try:
        if "rows" in kept:
            observed = rows_from(kept["rows"], space)
            source = InMemory(observed, stored.levels.nan, threads)
            by_level = next(iter(stored.tallies.values())).by_level
            if source.rows_by_level(stored.levels).tolist() != by_level.tolist():
                raise FormatError("has rows that contradict its counts")
            return {"observations": observed, "threads": threads, "_source": source}
        if "sample" in kept:
            return {"_sample": sample_model(stored.tallies, sample_from(kept["sample"], space, stored.levels))}
    except FormatError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, PedanovaError) as error:
        raise FormatError(f"has a damaged attachment ({type(error).__name__}: {error})") from None
    return {}


def in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None
