"""Logs of JSON objects, one for each trial: FLAML, freqtrade, bayes_opt, Hyperopt.

Hyperopt also has a `Trials` object, the list of its trials, or this list as JSON or JSON lines. Pickles are never read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from pedanova.base.notes import Note
from pedanova.data.column import plain_value
from pedanova.data.records import Records, SourceMetadata
from pedanova.data.regions import Direction
from pedanova.errors import Arg, DataError, FormatError
from pedanova.sources.logs.trials import Trial, budget_rule, left_out, only_numbers, tabulate
from pedanova.sources.reader import json_head, read_json, read_json_rows
from pedanova.sources.spaces.described import as_range, if_understood, number_or_nan
from pedanova.space.parameters import Space
from pedanova.space.values import shown

PEEK = 65_536  # characters of a file that contain the first trial
ENDED = {"ok": "COMPLETE", "fail": "FAIL"}
ERROR, CANCELLED = 3, 4  # states of a job


def fits_trials(data: object) -> bool:
    if isinstance(data, Path):
        start = json_head(data, PEEK, (".json", ".jsonl", ".ndjson"))
        return all(mark in start for mark in (b'"misc"', b'"vals"', b'"tid"'))
    if isinstance(getattr(data, "_dynamic_trials", None), list):
        return True
    return isinstance(data, list) and bool(data) and _is_entry(data[0])


def _is_entry(entry: object) -> bool:
    return isinstance(entry, Mapping) and "result" in entry and isinstance(entry.get("misc"), Mapping)


def read_trials(data: Any, study: str | None) -> Records:
    if isinstance(data, list):
        return _trials_table(data, study, "Hyperopt trials")
    if not isinstance(data, Path):
        return _trials_table(list(data.trials), study, f"Hyperopt {type(data).__name__}")
    entries = _entries_in_lines(data)
    plain = read_json(data) if entries is None else entries
    entries = plain.get("trials") if isinstance(plain, dict) else plain
    if not isinstance(entries, list):
        raise FormatError(f"{data}: {shown(plain)} must be a list of trials; dump `trials.trials`")
    return _trials_table(entries, study, f"Hyperopt trials {data.name!r}")


def _entries_in_lines(file: Path) -> list[Any] | None:
    """The trials of a file with one JSON trial per line; None for a file in another format."""
    with suppress(FormatError):
        rows, _ = read_json_rows(file)
        return rows if rows and all(map(_is_entry, rows)) else None
    return None


def _trials_table(entries: list[Any], study: str | None, source: str) -> Records:
    if study is not None:
        entries = [entry for entry in entries if _is_entry(entry) and entry.get("exp_key") == study]
        if not entries:
            raise DataError(Arg("study", study), " is not an exp_key of these trials; leave it out to read all trials")
    trials = [_entry_trial(number, entry) for number, entry in enumerate(entries)]
    whole = any(isinstance(value, int) for trial in trials for value in trial.params.values())
    notes = [Note("source", "Hyperopt logs a value of hp.choice as a number: 0 is the first choice")] if whole else []
    metadata = SourceMetadata(source=source, objectives=("loss",), directions=("minimize",), ordered=True)
    return tabulate(trials, metadata, notes=notes)


def _entry_trial(number: int, entry: Any) -> Trial:
    if not _is_entry(entry) or not isinstance(entry["misc"].get("vals"), Mapping):
        raise FormatError(f"trial {number}, {shown(entry)}, must be an object with misc.vals and result")
    result = entry["result"] if isinstance(entry["result"], Mapping) else {}
    plain = {str(key): plain_value(value) for key, value in result.items() if not isinstance(value, dict | list)}
    unended = "FAIL" if entry.get("state") in (ERROR, CANCELLED) else "RUNNING"
    # Every trial gets a loss, so that the column exists even if all trials failed.
    return Trial(
        {str(name): _entry_value(number, name, values) for name, values in entry["misc"]["vals"].items()},
        {"loss": math.nan} | only_numbers(plain),
        ENDED.get(str(result.get("status", "")), unended),
        {"tid": plain_value(entry.get("tid"))},
    )


def _entry_value(number: int, name: object, values: object) -> object:
    """The value of parameter `name`, which Hyperopt stores as a list; None for an empty list (inactive)."""
    many = values if isinstance(values, list | tuple) else [values]
    if len(many) > 1:
        raise FormatError(f"trial {number}: {name!r} has {len(many)} values, {shown(values)}; it must have one")
    return plain_value(many[0]) if many else None


SUFFIXES = (".json", ".jsonl", ".ndjson", ".log", ".txt", ".fthypt", "")
LONGEST = 1 << 20  # characters of the first line, which in freqtrade contains a whole backtest
TOO_FEW_TRADES = 100_000  # the loss that freqtrade writes for too few trades
STATE_HEAD = 200  # the first characters, in which bayes_opt names its bounds
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LineLog:
    """The format of a tool that writes one line with a JSON object for each trial."""

    what: str  # such as "FLAML log"
    keys: frozenset[str]  # the keys of every line that is a trial
    read_line: Callable[[Row], Trial]
    objective: str
    direction: Direction
    budget: str = ""  # the column of the budget, of which only one value is used
    feasible: str = ""  # a boolean column
    notes: Callable[[Sequence[Trial]], list[Note]] = lambda _: []

    def fits(self, path: Path) -> bool:
        if not path.is_file() or path.suffix.lower() not in SUFFIXES:
            return False
        with path.open("rb") as file:
            first = file.readline(LONGEST)
        return first.lstrip().startswith(b"{") and self.keys <= json.loads(first).keys()

    def read(self, path: Path) -> Records:
        every, notes = read_json_rows(path)
        rows = [row for row in every if not (isinstance(row, dict) and "curr_best_record_id" in row)]  # FLAML's last
        lines = [row for row in rows if isinstance(row, dict) and self.keys <= row.keys()]
        trials = [self.read_line(line) for line in lines]
        notes += left_out(len(rows) - len(lines), "lines are not trials")
        told = any(self.feasible in trial.other for trial in trials)
        metadata = SourceMetadata(
            source=f"{self.what} {path.name!r}",
            objectives=(self.objective,),
            directions=(self.direction,),
            where=budget_rule(trials, self.budget, self.budget) if self.budget else None,
            feasible=self.feasible if told else None,
            ordered=True,
        )
        return tabulate(trials, metadata, notes=[*notes, *self.notes(trials)])


def _settings(line: Row, key: str) -> Mapping[str, Any]:
    settings = line[key]
    if not isinstance(settings, dict):
        raise FormatError(f"{key}: {settings!r} must be an object that maps names to values")
    return settings


def _flaml_trial(line: Row) -> Trial:
    """Make a trial from a line of FLAML; each learner has its own space, so parameter names begin with the learner."""
    learner = str(line["learner"])
    settings = {f"{learner}.{name}": value for name, value in _settings(line, "config").items()}
    settings.pop(f"{learner}.FLAML_sample_size", None)
    logged = line.get("logged_metric")
    results = {"validation_loss": number_or_nan(line["validation_loss"])}
    results |= only_numbers(logged if isinstance(logged, dict) else {})  # type: ignore[arg-type]
    other = {name: line.get(name) for name in ("sample_size", "trial_time", "wall_clock_time")}
    return Trial({"learner": learner} | settings, results, other=other)


def _flaml_notes(trials: Sequence[Trial]) -> list[Note]:
    losses = [number_or_nan(trial.results["validation_loss"]) for trial in trials]
    if len(losses) < 3 or any(later > earlier for earlier, later in pairwise(losses)):
        return []
    words = "no trial is worse than the trial before it, so FLAML probably logged only improvements; "
    return [Note("doubt", f'{words}to log all trials, run AutoML.fit(…, log_type="all")')]


def _freqtrade_trial(line: Row) -> Trial:
    metrics = line["results_metrics"]
    results = {"loss": number_or_nan(line["loss"])} | only_numbers(metrics if isinstance(metrics, dict) else {})
    return Trial(_settings(line, "params_dict"), results, other={"epoch": line.get("current_epoch")})


def _freqtrade_notes(trials: Sequence[Trial]) -> list[Note]:
    few = sum(trial.results["loss"] == TOO_FEW_TRADES for trial in trials)
    words = f"epochs have too few trades, so freqtrade set their loss to {TOO_FEW_TRADES:,}"
    return left_out(few, words, "these epochs count as the worst trials")


def _bayes_opt_trial(line: Row) -> Trial:
    allowed = {"allowed": line["allowed"]} if isinstance(line.get("allowed"), bool) else {}
    return Trial(_settings(line, "params"), {"target": number_or_nan(line["target"])}, other=allowed)


def _hyperopt_trial(line: Row) -> Trial:
    other = {"iteration": line["iteration"]} if "iteration" in line else {}
    rest = {key: value for key, value in line.items() if key not in ("loss", "params", "iteration")}
    results = {"loss": number_or_nan(line["loss"])} | only_numbers(rest)
    return Trial(_settings(line, "params"), results, ENDED.get(str(line["status"]), "RUNNING"), other)


FLAML = LineLog("FLAML log", frozenset(("record_id", "validation_loss", "config", "learner")), _flaml_trial,
    "validation_loss", "minimize", budget="sample_size", notes=_flaml_notes)  # fmt: skip
FREQTRADE = LineLog("freqtrade epochs", frozenset(("loss", "params_dict", "results_metrics")), _freqtrade_trial, "loss",
    "minimize", notes=_freqtrade_notes)  # fmt: skip
BAYES_OPT = LineLog("bayes_opt log", frozenset(("target", "params", "datetime")), _bayes_opt_trial, "target",
    "maximize", feasible="allowed")  # fmt: skip
HYPEROPT = LineLog("Hyperopt results", frozenset(("loss", "params", "status")), _hyperopt_trial, "loss", "minimize")


def fits_state(path: Path) -> bool:
    return b'"pbounds"' in json_head(path, STATE_HEAD)


def read_state(path: Path) -> Records:
    """Read the output of `BayesianOptimization.save_state`: bounds, points and targets."""
    state = read_json(path)
    notes: list[Note] = []
    names = [str(name) for name in state["keys"]]
    rows = zip(state["params"], state["target"], strict=True)
    trials = [Trial(dict(zip(names, point, strict=True)), {"target": number_or_nan(target)}) for point, target in rows]
    space = if_understood(lambda: Space({name: as_range(*state["pbounds"][name]) for name in names}), notes)
    metadata = SourceMetadata(
        source=f"bayes_opt state {path.name!r}",
        space=space,
        objectives=("target",),
        directions=("maximize",),
        ordered=True,
    )
    return tabulate(trials, metadata, notes=notes)
