"""Words that are used in column names and for the states of trials.

Names are split into words: `val_acc`, `valAcc`, `val/acc` and `acc@1` all contain `acc`. The last word with a known
meaning decides, so `loss_weight` is not a loss.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pedanova.data.regions import Direction

STATES = {
    "complete": "complete", "completed": "complete", "success": "complete", "finished": "complete",
    "terminated": "complete", "ok": "complete", "done": "complete", "succeeded": "complete", "keep": "complete",
    "kept": "complete", "discard": "complete", "discarded": "complete", "baseline": "complete", "pass": "complete",
    "passed": "complete",
    "fail": "failed", "failed": "failed", "failure": "failed", "error": "failed", "crash": "failed",
    "crashed": "failed", "killed": "failed", "oom": "failed", "out of memory": "failed", "out_of_memory": "failed",
    "diverged": "failed", "timed out": "failed", "timed_out": "failed", "invalid": "failed", "interrupted": "failed",
    "timeout": "failed", "memout": "failed", "memoryout": "failed", "errored": "failed", "abort": "failed",
    "aborted": "failed", "cancelled": "failed", "canceled": "failed", "exceeded": "failed",
    "pruned": "pruned", "stop": "pruned", "stopped": "pruned", "early_stopped": "pruned", "capped": "pruned",
    "running": "unfinished", "waiting": "unfinished", "pending": "unfinished", "scheduled": "unfinished",
    "paused": "unfinished", "queued": "unfinished", "created": "unfinished",
}  # fmt: skip


def state_of(label: object) -> str | None:
    """Recognise the state of a trial in a word or a message; None if `label` is not a state.

    Examples
    --------
    >>> [state_of(label) for label in ("TrialState.PRUNED", "CUDA OOM (rank 0)", "adam")]
    ['pruned', 'failed', None]
    """
    known = STATES.get(state_word(label))
    inside = {STATES.get(word) for word in re.findall("[a-z]+", str(label).lower())}
    return known or ("failed" if "failed" in inside else None)


YES, NO = {"true", "yes", "y", "✓", "✔", "✅", "☑"}, {"false", "no", "n", "✗", "✘", "❌", "✕"}


def as_flag(label: object) -> bool | None:
    """The meaning of a word or sign for yes or no, such as "✓ yes"; None for other texts."""
    words = set(str(label).replace("\ufe0f", "").lower().split())
    return None if not words or not (words <= YES or words <= NO) else words <= YES


def is_state(label: object) -> bool:
    """Whether the whole text is a known state, not only a word in it."""
    return state_word(label) in STATES


def state_word(label: object) -> str:
    """Convert a state such as COMPLETE or 'TrialState.FAIL' to its last word in lower case."""
    return str(label).rsplit(".", 1)[-1].strip().lower()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


RESULTS_UP = _words(
    "acc accuracy auc auroc auprc roc f1 f2 fbeta fscore r2 score reward rewards recall iou miou map mrr ndcg bleu "
    "loglik rouge meteor cider psnr ssim mcc kappa dice jaccard top1 top5 elo likelihood elbo sharpe profit "
    "sensitivity specificity tpr tnr fitness correlation spearman pearson precision return returns success throughput "
    "fps ap hits performance winrate mfu speedup silhouette cagr qps tps ipc "
    "gflops tflops mflops sens spec prec hypervolume win wins pnl yield"
)
RESULTS_DOWN = _words(
    "loss losses error errors err rmse mse mae mape smape wape mase rmsle msle nll perplexity ppl wer cer bpb bpc fid "
    "nlpd lpips regret misclassification makespan drawdown cpi misses brier ece logloss crossentropy deviance aic bic "
    "fpr fnr mistakes"
)
COSTS = _words(
    "runtime walltime traintime timetrain timepredict "
    "duration elapsed took latency seconds secs time timestamp flops macs joules"
)  # words for the cost of a run
# These show the direction of an objective, but may also be parameters.
ONLY_UP = _words("gain utility efficiency bitrate coverage volume diversity passed correct solved accepted converged")
ONLY_DOWN = _words(
    "failed crashed diverged cost memory entropy divergence gap violation violations failures distance size risk "
    "cycles penalty collisions"
)
LOW_FIRST = RESULTS_DOWN | {"rank", "fid"}  # before the word "score", which is then minimised

SPLITS = _words("train training val valid validation test dev holdout eval cv oob split fold epoch step")
PARTS = SPLITS | {"set", "data", "final"}
VALIDATION = _words("val valid validation dev cv")
SUMMARIES = _words(
    "mean avg average median std stddev var min max best final last sum total rate at ratio pct percent epoch k l s ms "
    "sec ns us n per rps ema smoothed running top overall macro micro weighted all seed rep repeat milli mins minutes "
    "hours"
)  # words that may follow a result's name
BEFORE_RESULTS = _words(
    "train training val valid validation test dev holdout cv eval metrics metric results final best last peak avg "
    "average mean median std stdev stddev aggregate predicted improvement"
)
GOOD_OUTCOMES = _words(
    "success successful succeeded converged complete completed finish finished done valid feasible kept accepted "
    "passed pass correct solved ok"
)
OUTCOMES = GOOD_OUTCOMES | _words(
    "fail failed failure crash crashed diverged oom error errors timeout killed aborted nan pruned"
)  # words in the names of yes/no columns
VERDICTS = _words("correct done accepted kept pass passed")  # they judge what a trial found, or say little about it
UNITS = {
    "time": _words("s ms us ns sec secs second seconds min mins minute minutes h hr hrs hour hours days"),
    "result": _words("kb mb gb tb kib mib gib bytes kwh joules watts mhz ghz usd"),
}
PER_SECOND = _words(
    "tok token tokens sample samples op ops req reqs requests image images img imgs frames steps rows points"
)
MEMORY = _words("memory mem ram vram")
PROCESSES = _words(
    "residence reaction hold holding pulse dwell soak soaking cure curing anneal annealing exposure contact mixing "
    "stirring incubation sintering aging ageing drying heating cooling ramp delay settling etch deposition milling"
)  # before "time": a parameter of an experiment
FAILURES = _words("error errors exception exceptions traceback")  # text columns that are filled if a trial failed
NOTHING = _words("none no ok nan null false 0 - success") | {""}  # words for no failure
COUNTED = re.compile(
    "|".join(
        (
            r"^((n|num|number|total|trainable)_?(of_?)?)?(params|parameters|param_?count|flops|macs)(_?[kmbg])?$",
            r"^param(eter)?s_(total|count|per_\w+)$",
            r"^(input|output|prompt|completion)_?tokens$|^variance$",
            r"^(tp|tn|fp|fn|(true|false)_?(positive|negative)s?)$",
        )
    ),
    re.IGNORECASE,
)
COUNTS = _words("n num number")
COUNTED_WORDS = _words("count counts number total trades signals misses calls reads writes requests")
RATES = _words("rate ratio pct percent fraction frac relative normalized")
ERRORS = _words("err error std sd sem ci var stderr")  # behind the name of another column
COMPARED = _words(
    "baseline base naive greedy random initial init reference ref optimal default vs before original delta diff single"
)  # of what a result is compared with
FRACTIONS = _words("rate ratio fraction frac")
MIDDLES = _words("mean avg average median")
DEVIATIONS = MIDDLES | _words("std stdev stddev sd sem var variance min max ci lower upper")
BOUNDS = _words("min max low high lower upper start end first last")
DIFFERENCES = _words("delta diff difference change improvement overfit overfitting")
PAST = re.compile(r"[^eb]ed$|^(done|found|lost|won)$")  # but not seed, speed or embed
HEADS = _words(
    "lrate wdecay wd "
    "size rate lr batch dim dims dimension units unit layers layer depth width heads dropout decay momentum alpha beta "
    "gamma lambda epsilon eps weight weights coef coefs coefficient factor scale threshold type mode kind function fn "
    "activation optimizer scheduler schedule warmup patience interval freq frequency every epochs steps iters "
    "iterations ratio fraction frac split splits temperature bits features estimators trees leaves samples kernel "
    "stride padding clip norm bias window horizon penalty strategy method model dataset aug augmentation init "
    "regularization reg tolerance tol limit noise discount bound bounds offset shift margin level budget "
    "prob probability smoothing scaling pooling stopping sampling clipping weighting encoding masking pruning "
    "annealing shaping boosting"
)  # a name with one of these last words is a parameter
NAMES = HEADS | _words(
    "epoch structure architecture arch backbone channels filters neurons hidden nodes blocks embed embedding vocab "
    "length lookback lag lags seq neighbors clusters components degree eta subsample bytree bylevel leaf bins "
    "criterion solver booster algorithm classifier policy sampler jobs workers threads accum rounds sigma tau rho nu "
    "mu theta rank topk kp ki kd"
)  # last words of parameters, unless another word is that of a result
AMBIGUOUS = _words(
    "rate ratio fraction frac size level samples features weight weights iterations iters steps epochs length rank "
    "rounds prob probability leaves trees nodes clusters components distance limit bound bounds factor penalty "
    "norm scale bias"
)  # last words of both parameters and results
CATEGORIES = _words(
    "type mode kind function fn activation optimizer scheduler schedule strategy method model dataset init algorithm "
    "classifier policy sampler booster solver criterion architecture arch backbone structure augmentation aug"
)  # last words of parameters whose values are words
BEFORE_HEADS = (
    _words("learning mutation crossover population pop buffer sample max min") | NAMES - AMBIGUOUS - CATEGORIES
)
UNCLEAR = _words(
    "kappa perplexity precision map return returns hits correlation performance time seconds secs error score win"
)
BLOCK_NAMES = re.compile(
    r"((test|eval|target|obj(ective)?)[_ ])?(data[_ ]?set|datensatz|jeu_(de_)?donn[eé]es|instan[cz]e?|problem"
    r"|bench(mark)?|task|scenario|func(tion)?|funzione|funktion)s?([_ ]?(name|id|file))?",
    re.IGNORECASE,
)
FLIPS = _words("neg negative negated minus inverse")
BOOKKEEPING = re.compile(
    r"^(_(step|runtime|timestamp|wandb)|iterations?_since_restore|training_iteration|trial_num|date|hostname|node_ip|pid"
    r"|created(_?at)?|updated(_?at)?|start(ed)?(_?(at|time))|end(ed)?(_?(at|time))|datetime(_\w+)?)$",
    re.IGNORECASE,
)
JOINED = {
    re.compile(r"cross[_\W]?entropy", re.IGNORECASE): "crossentropy",
    re.compile(r"(avg|average)[_\W]?precision", re.IGNORECASE): "ap",  # a measure, not a mean of precisions
}
WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")


@lru_cache(maxsize=1 << 15)  # more than a wide table has columns, because each name is asked for several times
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case; there is at least one.

    Examples
    --------
    >>> words_of("mean_valAUC@1"), words_of("val_avg_precision"), words_of("é")
    (('mean', 'val', 'auc', '1'), ('val', 'ap'), ('é',))
    """
    words: list[str] = []
    joined = name.replace("²", "2").replace("'", "")
    for pattern, word in JOINED.items():
        joined = pattern.sub(word, joined)
    for run in re.split(r"[^0-9A-Za-z]+", joined):
        whole = run.lower()
        in_vocabulary = whole.rstrip("0123456789") in _KNOWN or whole in _KNOWN
        words += [whole] if in_vocabulary else [word.lower() for word in WORD.findall(run)]
    return tuple(words) or (name.lower(),)


RESULTS = RESULTS_UP | RESULTS_DOWN
_KNOWN = RESULTS | COSTS | ONLY_UP | ONLY_DOWN | SPLITS


def split_of(label: object) -> str | None:
    """The part of the data that a label means, such as "test" for "final_test"; None for other labels."""
    words = words_of(str(label))
    return next((word for word in words if word in SPLITS), None) if PARTS.issuperset(words) else None


def known_form(word: str) -> str:
    """The basic form of a word: "scores" -> "score", "auc2" -> "auc"."""
    for plural in ("s", "es"):
        if word not in _KNOWN and word.endswith(plural) and word.removesuffix(plural) in RESULTS | COSTS:
            return word.removesuffix(plural)
    return word if word in _KNOWN else word.rstrip("0123456789") or word


def last_telling(name: str) -> tuple[str, bool] | None:
    """The last known word of a name, and whether words before it reverse its meaning, as "neg" does in neg_loss.

    None if the name has no known word, or if an unknown word follows the last known word. Words after "per" do not
    count: the cost per success is a cost.
    """
    words = words_of(name)
    words = words[: words.index("per")] if "per" in words[1:] else words
    for place in range(len(words) - 1, -1, -1):
        word = known_form(words[place])
        if word in _KNOWN - SPLITS:
            before = words[:place]
            turned = sum(one in FLIPS for one in before) + ("1" in before)
            low = word == "score" and not LOW_FIRST.isdisjoint(before)
            return word, (turned + low) % 2 == 1
        if word not in SUMMARIES and word not in SPLITS and not word.isdigit():
            return None
    return None


def outcome_word(name: str) -> str:
    """The word in the name of a yes/no column that says what a yes means: oom_flag -> "oom"."""
    words = words_of(name)
    return words[-2] if len(words) > 1 and words[-1] == "flag" else words[-1]


def has_head(name: str) -> bool:
    """Whether the last word of a name is typical of parameters; a number may follow it, as in units_1."""
    words = words_of(name)
    negatives = words[-1:] == ("fn",) and words[0] in BEFORE_RESULTS  # false negatives, not a function
    return not negatives and COUNTED.match(name) is None and bool(words) and _head(words)[-1] in HEADS


def is_setting_name(name: str, *, number: bool = False) -> bool:
    """Whether a name is typical of a parameter, not of a result.

    With `number`, the parameter must be numeric, so names such as "optimizer" are excluded.

    Examples
    --------
    >>> [is_setting_name(name) for name in ("learning_rate", "dropout_2", "detection_rate", "batch_size", "size")]
    [True, True, False, True, False]
    """
    *before, head = _head(words_of(name))
    if head not in NAMES or (head in HEADS and not has_head(name)):
        return False
    if head in AMBIGUOUS:
        return bool(before) and before[-1] in BEFORE_HEADS
    return not (number and head in CATEGORIES)


def _head(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a name, without a number at the end: units_1 and units1 -> ("units",)."""
    words = words[:-1] if len(words) > 1 and words[-1].isdigit() else words
    return *words[:-1], words[-1].rstrip("0123456789") or words[-1]


def stem_of(name: str) -> tuple[str, ...]:
    """The words of a name, without a word for a summary at the end: acc_mean, acc_std and acc_best -> ("acc",)."""
    words = words_of(name)
    return words[:-1] if words and words[-1].rstrip("0123456789") in DEVIATIONS | {"best", "worst"} else words


def has_meaning(name: str) -> bool:
    """Whether some word of a name is known as that of a parameter, of a result or of what was solved."""
    known = RESULTS | COSTS | BEFORE_RESULTS | NAMES | PROCESSES | UNITS["time"] | UNITS["result"]
    words = (known_form(word) for word in words_of(name) if len(word) > 1)
    return BLOCK_NAMES.match(name) is not None or not known.isdisjoint(words)


def form_of(name: str) -> str:
    """What similar names have in common: S1 and S2 -> "s", block_x -> "block", num_cooks -> "num_"."""
    return re.sub(r"^((n|num|max|min)_).+|\d+|[_ ][a-z]$", r"\1", name.lower())


def related(name: str, other: str) -> bool:
    """Whether names differ only in a bound, such as min and max, or in their last word after a common beginning.

    Examples
    --------
    >>> related("min_delay", "max_delay"), related("col_bytree", "col_bynode"), related("n_layers", "n_steps")
    (True, True, False)
    """
    one, two = words_of(name), words_of(other)
    if len(one) < 2 or len(two) < 2 or one == two:
        return False
    general = COUNTS | SUMMARIES | BEFORE_RESULTS | BOUNDS
    inner = [tuple(word for word in words if word not in BOUNDS) for words in (one, two)]
    return (inner[0] == inner[1] != ()) or (one[:-1] == two[:-1] and not general.issuperset(one[:-1]))


def direction_by_name(name: str) -> Direction | None:
    """Whether a result called `name` is minimised or maximised; None if the name does not show the direction.

    Examples
    --------
    >>> [direction_by_name(name) for name in ("val/accuracy", "neg_mean_squared_error", "test_err", "acc_head", "y")]
    ['maximize', 'maximize', 'minimize', 'maximize', None]
    """
    telling, words = last_telling(name), words_of(name)
    first = known_form(words[0])  # such as acc_head and fps_out
    if telling is None and first in RESULTS - UNCLEAR and not has_head(name):
        return "maximize" if first in RESULTS_UP else "minimize"
    if telling is None:
        is_speed = words[-1] in UNITS["time"] and words[-2:-1] != () and words[-2] in PER_SECOND | {"per"}
        return "maximize" if is_speed else "minimize" if words[1:] and words[-1] in ("ns", "us", "ms") else None
    word, turned = telling
    up = word in RESULTS_UP or word in ONLY_UP
    return "maximize" if up != turned else "minimize"


def is_limit(name: str) -> bool:
    """Whether the name means a limit, as max_time does."""
    return words_of(name)[:1] in (("max",), ("min",), ("limit",), ("budget",))
