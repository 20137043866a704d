"""How Sphinx builds the site: `make docs` runs it strictly, without network, into build/site."""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_site"))

import accessible
import nav
import reference
from sphinx.application import Sphinx

from pedanova.base.version import __version__

project = "pedanova"
author = "the authors of pedanova"
project_copyright = "the authors of pedanova, Apache-2.0"
version = release = __version__

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx_copybutton", "sphinxarg.ext"]
exclude_patterns = ["_site", "**/.ipynb_checkpoints"]
default_role = "py:obj"  # `name` in a docstring is a name, and a link where it is a public one
smartquotes = False  # what is typed is shown as it is typed
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "a11y-high-contrast-dark"

autodoc_typehints = "none"  # the docstring says what may be passed, in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "off"  # the gallery is run by the tests, and saved with what it showed
suppress_warnings = ["myst.domains"]  # sphinx-argparse has a domain that resolves nothing
nb_render_markdown_format = "myst"

html_theme = "furo"
html_title = f"pedanova {version}"
html_static_path = ["_site/static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_last_updated_fmt = None  # built twice, it is the same twice
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", write_pages)
    app.connect(
        "env-get-outdated", lambda *_: ["index", *(f"{folder}index" for folder in nav.LISTED)]
    )  # they list pages
    app.connect("source-read", complete_page)
    app.connect("build-finished", lambda app, failed: failed or accessible.mend(Path(app.outdir)))


def write_pages(app: Sphinx) -> None:
    """Generated pages lie beside the others, so that links between them are checked; git ignores them."""
    made = {f"reference/{name}": text for name, text in reference.pages().items()} | nav.pages_of_the_root(DOCS)
    pages = {Path(app.srcdir) / f"{name}.md": text for name, text in made.items()}
    for stray in {*(Path(app.srcdir) / "reference").rglob("*.md")} - {*pages}:
        stray.unlink()
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def complete_page(app: Sphinx, name: str, source: list[str]) -> None:
    """The front page gets the navigation, an index the list of its folder, and links to the root stay on the site."""
    docs = Path(app.srcdir)
    if name == "index":
        source[0] += "\n" + nav.toctrees(docs)
    if name.removesuffix("index") in nav.LISTED:
        source[0] += "\n" + nav.listing(docs, name.removesuffix("index"), source[0])
    source[0] = nav.on_the_site(source[0])
