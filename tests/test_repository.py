"""What the repository says of itself in several places is the same in all: versions, commands, pins, limits."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

import pytriton
from tools import matrix

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINS = dict(pin.split("==") for pin in PROJECT["optional-dependencies"]["dev"])


def jobs() -> dict[str, dict[str, Any]]:
    """All jobs of all workflows, by file and name."""
    return {
        f"{path.name}: {name}": job
        for path in WORKFLOWS
        for name, job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items()
    }


def steps() -> list[dict[str, Any]]:
    return [step for job in jobs().values() for step in job["steps"]]


def supported_pythons() -> list[str]:
    prefix = "Programming Language :: Python :: 3."
    return [name.rpartition(" ")[2] for name in PROJECT["classifiers"] if name.startswith(prefix)]


def test_every_supported_python_is_tested() -> None:
    versions = supported_pythons()
    assert PROJECT["requires-python"] == f">={versions[0]}"
    assert jobs()["tests.yml: linux"]["strategy"]["matrix"]["python"] == versions
    assert jobs()["tests.yml: translate"]["strategy"]["matrix"]["python"] == [versions[0], versions[-1]]
    others = [step["with"]["python-version"] for step in steps() if "setup-python" in step.get("uses", "")]
    assert {version for version in others if "matrix" not in version} == {versions[0]}


def test_the_oldest_and_the_newest_triton_are_tested() -> None:
    oldest, newest = matrix.VERSIONS[0], matrix.VERSIONS[-1]
    assert jobs()["tests.yml: linux"]["strategy"]["matrix"]["triton"] == [oldest, newest]
    (triton,) = (need for need in PROJECT["optional-dependencies"]["torch"] if need.startswith("triton"))
    after = f"3.{int(newest.split('.')[1]) + 1}"
    assert triton.partition(";")[0] == f"triton>={oldest.removesuffix('.0')},<{after}"
    assert f"TRITON=triton=={newest}" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_every_make_target_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):.*  ## ", makefile, re.MULTILINE))
    (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert set(phony.split()) == targets
    pages = [".ci/run", "CONTRIBUTING.md", "README.md", ".github/pull_request_template.md", "docs/start.md"]
    texts = [step["run"] for step in steps() if "run" in step]
    for page in (*pages, "docs/inside/release.md"):
        shown = re.findall(r"`(make [^`]+)`|^(?:\$ |exec )(?:\w+=\S+ )*(make .*)$", _read(page), re.MULTILINE)
        texts += [text for pair in shown for text in pair if text]
    commands = [re.sub(r"\s#.*|<.*|\"[^\"]*\"", "", text).split() for text in texts]
    words = {word for command in commands if command[0] == "make" for word in command[1:]}
    named = {word for word in words if "=" not in word and not word.startswith("-")}
    assert len(named) > 10
    assert named <= targets


def test_actions_are_pinned_by_commit_and_each_to_one() -> None:
    used = [line for path in WORKFLOWS for line in _read(path).splitlines() if re.search(r"\buses:", line)]
    pins = [re.search(r"uses: ([\w./-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$", line) for line in used]
    assert used
    assert all(pins), [line for line, pin in zip(used, pins, strict=True) if not pin]
    assert len({pin[0] for pin in pins if pin}) == len({pin[1] for pin in pins if pin})


def test_hooks_use_the_pinned_tools() -> None:
    text = _read(".pre-commit-config.yaml")
    pins = dict(re.findall(r"([\w-]+)==([\d.]+)", text))
    assert pins.keys() == {"hypothesis", "lark", "pytest", "ruff"}
    assert pins.items() <= PINS.items()


def test_what_runs_without_torch_exists() -> None:
    files = _read("tests/without_torch.txt").split()
    assert files == sorted(set(files), key=files.index)
    assert all((ROOT / file).is_file() for file in files)
    for page in ("CONTRIBUTING.md", ".github/workflows/tests.yml"):
        assert "python -m pytest" in _read(page)
        assert "@tests/without_torch.txt" in _read(page)


def test_security_lists_the_imports_of_generated_code() -> None:
    load = _read("pytriton/runtime/compile/load.py")
    (found,) = re.findall(r"^_IMPORTS: Final = frozenset\(\n(.*?)\n\)$", load, re.MULTILINE | re.DOTALL)
    allowed = set(re.findall(r'"([^"]+)"', found))
    (line,) = re.findall(r"^- these imports: (.*);$", _read("SECURITY.md"), re.MULTILINE)
    assert len(allowed) == 3
    assert set(re.findall(r"`([^`]+)`", line)) == allowed
    (refused,) = re.findall(r"^_REFUSED_FUNCTIONS: Final = frozenset\(\{\"(\w+)\"\}\)", load, re.MULTILINE)
    assert f"`tl.{refused}`" in _read("SECURITY.md")


def test_the_sdist_has_every_file_of_the_root() -> None:
    text = _read("pyproject.toml")
    (listed,) = re.findall(
        r"\[tool\.hatch\.build\.targets\.sdist\]\nonly-include = \[\n(.*?)\n\]", text, re.DOTALL
    )
    included = re.findall(r'"([^"]+)"', listed)
    assert {path.name for path in ROOT.glob("*.*") if path.suffix in (".md", ".cff")} <= set(included)
    assert all((ROOT / name).exists() for name in included)


def test_the_readme_has_no_relative_links() -> None:
    """A package index shows it, too."""
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", _read("README.md"), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)]*)\)|^\[[^\]]+\]: (\S+)$|(?:src|href)=\"?([^\"> ]+)", text, re.MULTILINE)
    links = ["".join(target) for target in targets]
    assert len(links) > 20
    assert all(link.startswith(("https://", "#")) for link in links), links
    defined = set(re.findall(r"^\[([^\]]+)\]: ", text, re.MULTILINE))
    named = set(re.findall(r"\[([^\]]+)\](?![(:])", text))
    assert {" ".join(name.split()) for name in named} == defined


def test_addresses_of_the_project_lead_to_files() -> None:
    """Each link of README, Changes and pyproject.toml to site or repository has its page, file and heading."""
    site, repository = PROJECT["urls"]["Homepage"], PROJECT["urls"]["Repository"]
    text = "".join(map(_read, ("README.md", "CHANGELOG.md", "pyproject.toml")))
    hosts = "|".join(re.escape(address.split("/")[2]) for address in (site, repository))
    addresses = set(re.findall(rf"https://(?:{hosts})/[^\s)\"]*", text))
    assert len(addresses) > 20
    for address in addresses:
        place, _, anchor = address.partition("#")
        if place == site or re.fullmatch(rf"{repository}(/issues|/compare/.*|/releases/tag/v.*)?", place):
            continue
        if place.startswith(site):
            page = place.removeprefix(site)
            path = f"docs/{page}" if page.startswith("_static/") else f"docs/{page.removesuffix('.html')}.md"
        else:
            assert place.startswith(f"{repository}/blob/main/"), address
            path = place.removeprefix(f"{repository}/blob/main/")
        assert (ROOT / path).is_file(), address
        headings = re.findall(r"^#+ (.*)$", _read(path), re.MULTILINE) if anchor else []
        assert not anchor or anchor in {
            re.sub(r"[^\w-]", "", name.lower().replace(" ", "-")) for name in headings
        }


def test_the_version_stands_in_one_place() -> None:
    version = pytriton.__version__
    assert "version" in PROJECT["dynamic"]
    heads = re.findall(r"^## \[(.*?)\](?: - (\d{4}-\d\d-\d\d))?$", _read("CHANGELOG.md"), re.MULTILINE)
    assert heads[0] == ("Unreleased", "")
    assert heads[1][0] == version
    assert heads[1][1]
    for place in ("pyproject.toml", "CITATION.cff", "README.md", "docs/conf.py", "Makefile"):
        assert version not in _read(place), place


def _read(path: str | Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")
