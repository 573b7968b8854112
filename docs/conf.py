"""The documentation: ``python -m sphinx -W -n docs site`` from the checkout."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "scripts"), str(ROOT)]

from docutils import nodes  # noqa: E402
from generate import write_generated_pages  # noqa: E402
from sphinx.application import Sphinx  # noqa: E402

from ir_std import __version__  # noqa: E402

project = "ir_std"
author = copyright = "The ir_std developers"
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["release", "paper"]
nitpicky = True
# Types name words and classes of other libraries, which have no page here.
nitpick_ignore_regex = [("py:.*", r"(?!ir_std\.).*")]

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist", "attrs_inline"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # a test checks the outputs of the notebook
# A reference to an attribute of several classes, such as notes, is ambiguous.
suppress_warnings = ["myst-nb.lexer", "ref.python"]

autosummary_generate = False
autodoc_typehints = "none"  # docstrings give shapes and units
autodoc_member_order = "bysource"
napoleon_use_ivar = True
napoleon_use_param = napoleon_use_rtype = False

html_theme = "furo"
html_title = f"ir_std {release}"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#7db8f0", "color-brand-content": "#7db8f0"},
}
html_static_path = ["_static"]
html_extra_path = ["generated/site"]  # a live report
html_css_files = ["site.css"]
html_js_files = ["catalogue.js"]
html_show_sourcelink = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

write_generated_pages()


def setup(app: Sphinx) -> None:
    """Describe properties by whole sentences, and do not link measures as mail addresses."""
    app.connect("autodoc-process-docstring", whole_sentence, priority=900)
    app.connect("doctree-read", unlink_measures)


def unlink_measures(_app: Sphinx, page: nodes.document) -> None:
    """Show a measure such as nDCG@10 as text, because docutils takes it for a mail address."""
    for link in list(page.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.replace_self(link.children)


def whole_sentence(
    _app: Sphinx, _what: str, _name: str, _thing: object, _options: object, lines: list[str]
) -> None:
    """Undo Napoleon, which takes the text before a property's first colon for its type."""
    if lines and lines[-1].startswith(":type: "):
        before = lines.pop().removeprefix(":type: ")
        while not lines[0]:
            lines.pop(0)
        lines[0] = f"{before}: {lines[0]}"
