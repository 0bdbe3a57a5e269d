"""The site, for Sphinx: ``make site`` builds it into build/site, with warnings as errors.

Pages are the Markdown of this folder. What they show of the translator (``becomes``), of the command line
(``output``) and as drawings is made while building, by ``tools/pages``.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import pytriton  # noqa: E402
from tools.pages import meta, theme  # noqa: E402

project = "pytriton"
author = "pytriton contributors"
project_copyright = author
release = version = pytriton.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "tools.pages.extension",
]
exclude_patterns = ["conf.py", "playground", "_static"]

myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 80
default_role = "code"
highlight_language = "text"
nitpicky = False

html_theme = "furo"
templates_path = ["_templates"]
html_title = "pytriton"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_search_scorer = str(ROOT / "docs" / "_static" / "scorer.js")
html_show_sphinx = False
html_copy_source = False
html_show_copyright = False
html_baseurl = meta.urls()["Homepage"]
html_logo = "_static/mark.svg"
html_favicon = "_static/mark.svg"
html_theme_options = theme.OPTIONS
pygments_style = "tools.pages.theme.Light"
pygments_dark_style = "tools.pages.theme.Dark"
