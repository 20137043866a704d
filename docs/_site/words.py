"""What the generated pages say in words of their own."""

from __future__ import annotations

COMMANDS = """# Command line

`pedanova COMMAND --help` prints the same. [In the terminal](../terminal.md) says how to read what is printed.

```{eval-rst}
.. argparse::
   :module: command_line
   :func: parser
   :prog: pedanova
   :nodescription:
```
"""
ADVICE = {  # what a reader does about notes of a kind
    "source": "Check that the right file, study and objective were read. Nothing needs to be done if they were.",
    "rows": "Check that the rows that count are those you mean; `where=`, `repeats=` and "
    "`reading=` decide (`nan`, `failed`, `pruned`, `infeasible` of `pa.Reading`).",
    "status": "Some rows may come from trials that failed. If they did, leave them out with the condition in the note "
    "(`where=`); otherwise nothing needs to be done.",
    "roles": "Lists what each column is taken for. Pass `params=` or `exclude=` where that is wrong.",
    "objective": "If another column was optimised, pass `objective=`.",
    "direction": "If the guess is wrong, the whole ranking is wrong: pass `direction=`.",
    "space": "Right in most tables, and only a guess: the bounds are those of the data. Write the space down with "
    "`pedanova space … -o space.json`, correct it, and pass `space=`.",
    "condition": "A parameter that exists only for some values of another is measured where it exists. If the "
    "condition is a coincidence of your rows, give the space with `space=`.",
    "unused": "Columns that look like results, states or names of runs are not parameters. Name them in `params=` "
    "if they are.",
    "question": "Says what your target and region mean in these rows. Choose others if that is not what you meant.",
    "answer": "Says how the numbers were computed: by a model or by counts, and why. `estimator=` decides otherwise.",
    "doubt": "Read it before you act: the numbers are right for what was asked, and something about the rows may make "
    "them answer another question. [When not to believe it](../importance.md#when-not-to-believe-it) goes through the "
    "cases.",
}
NOTES = """# Notes

Nothing is guessed, dropped or merged in silence: `a.notes` and the `notes` of every answer say it in sentences. A note
is text, and knows its `kind`, its `severity` (`info`, `guess` or `warning`) and its `subject`, a parameter or a column.

```python
import pedanova as pa

a = pa.analyze(pa.demo_trials(), "error")
[note for note in a.notes if note.severity != "info"]
{{note.kind for note in a.importance().notes}}
```

In a terminal the warnings are printed below the table, `--notes` prints all, `--format json` holds them. Below are all
sentences that there are, read out of the source; … stands for names and numbers of yours.
{kinds}"""
ERRORS = """# Errors

A mistake is one line: the value, the rule that it breaks, and the remedy. In Python it is an exception of
`pedanova.errors`, all of them a `PedanovaError`; in a terminal it is a line on standard error and
status 2, with options written as options.

```python
import pedanova as pa

a = pa.analyze(pa.demo_trials(), "error")
try:
    a.importance(target=2)
except pa.PedanovaError as error:
    print(error)
```

Below are all messages that there are, read out of the source; … stands for names and numbers of yours.

```{{eval-rst}}
.. autoexception:: pedanova.errors.PedanovaError

   .. automethod:: pedanova.errors.PedanovaError.in_shell
   .. autoproperty:: pedanova.errors.PedanovaError.arguments
```
{classes}"""
