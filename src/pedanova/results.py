"""The types of all answers, for annotations and `isinstance`: ``from pedanova.results import Importances``."""

from __future__ import annotations

from pedanova.analysis.studies import Across, StudyDifferences
from pedanova.data.history import History, LearningCurves
from pedanova.measures.advice.brief import Brief, BriefLine
from pedanova.measures.advice.gains import AblationPath, Amount, Gain, Gains, PathStep
from pedanova.measures.advice.needed import Estimate, Needed, NeededTrials, StopAdvice
from pedanova.measures.advice.next_trials import NextTrial, NextTrials
from pedanova.measures.densities import Densities
from pedanova.measures.effects import Effect, Effects, Marginal
from pedanova.measures.forest import ForestEffects
from pedanova.measures.importance import Importance, Importances
from pedanova.measures.interactions import Interaction, Interactions
from pedanova.measures.questions.ask import Comparison, Profile
from pedanova.measures.studies.budgets import Along
from pedanova.measures.studies.seeds import Seeds
from pedanova.measures.studies.study_difference import Difference, Differences
from pedanova.reduction.result import Evidence, ReducedSpace, Verdict

__all__ = [
    "AblationPath", "Across", "Along", "Amount", "Brief", "BriefLine", "Comparison", "Densities", "Difference",
    "Differences", "Effect", "Effects", "Estimate", "Evidence", "ForestEffects", "Gain", "Gains", "History",
    "Importance", "Importances", "Interaction", "Interactions", "LearningCurves", "Marginal", "Needed", "NeededTrials",
    "NextTrial", "NextTrials", "PathStep", "Profile", "ReducedSpace", "Seeds", "StopAdvice", "StudyDifferences",
    "Verdict",
]  # fmt: skip
