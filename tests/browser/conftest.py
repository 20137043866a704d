"""One browser, one small report and one explorer for every file here."""

from helpers.reports import analysis, browser, chromium, explorer, page, report, serving
