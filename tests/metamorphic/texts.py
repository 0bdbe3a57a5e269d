"""Changes of a Triton-C text that change nothing: the kernels of it must leave the same bytes.

All work on tokens, with a tokenizer of their own: comments and preprocessor lines are one token each. Nothing of
the translator is used, but for the names that a kernel declares (``renamed`` takes them as an argument).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count, cycle

__all__ = ["CHANGES", "TYPES", "Launch", "renamed"]

Tokens = list[str]
Defines = dict[str, object]
Launch = tuple[str, Defines]  # a text and what is given with it

_TOKEN = re.compile(
    r"""(?P<line>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<blank>\s+)"""
    r"""|(?P<number>\d(?:[eE][+-]|\w|\.(?!\.))*|\.\d(?:[eE][+-]|\w)*)|(?P<name>[A-Za-z_]\w*)"""
    r"""|(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
    r"""|(?P<sign>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|[<>=!]=|&&|\|\||[-+*/%&^|]=|.)""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
TYPES = {"bool", "char", "short", "int", "long", "unsigned", "half", "float", "double", "bfloat16"}
_ASSIGNS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
# Good names in C, each of which means something in the Python that a kernel becomes.
AWKWARD = (
    *(
        "lambda",
        "tl",
        "triton",
        "None",
        "pass",
        "range",
        "value",
        "mask",
        "other",
        "axis",
        "self",
        "print",
        "len",
    ),
    *(
        "in",
        "is",
        "not",
        "and",
        "or",
        "def",
        "class",
        "import",
        "from",
        "yield",
        "True",
        "False",
        "with",
        "as",
    ),
    *(
        "id",
        "sum",
        "abs",
        "exp",
        "float32",
        "jit",
        "constexpr",
        "pointer",
        "libdevice",
        "global",
        "del",
    ),
    *(
        "load",
        "store",
        "where",
        "value_1",
        "k_mask",
        "running",
        "returned",
        "in_TN",
        "cdiv",
        "dtype",
        "_",
        "__x",
    ),
)


def tokens(text: str) -> Tokens:
    """The text cut up; joined again it is the same."""
    found = [match.group() for match in _TOKEN.finditer(text)]
    assert "".join(found) == text
    return found


def _is_space(token: str) -> bool:
    return token.isspace() or token.lstrip().startswith(("//", "/*", "#"))


def _is_name(token: str) -> bool:
    return re.fullmatch(r"[A-Za-z_]\w*", token) is not None


def _bodies(parts: Tokens) -> Iterator[tuple[int, int]]:
    """Index, depth of braces: the places behind ``{``, ``;`` and ``}`` of bodies where a statement may begin."""
    depth = inside = 0
    for at, token in enumerate(parts):
        if token in "([" and len(token) == 1:
            inside += 1
        elif token in ")]" and len(token) == 1:
            inside -= 1
        elif token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
        if token in ("{", ";", "}") and not inside and depth:
            follows = next((t for t in parts[at + 1 :] if not _is_space(t)), "")
            if follows not in ("else", "while", ""):
                yield at, depth


def _statement(parts: Tokens, at: int) -> Tokens:
    """The statement that begins behind a place, up to its ``;``; empty if it is none that ends with one."""
    found: Tokens = []
    inside = 0
    for token in parts[at + 1 :]:
        if token.lstrip().startswith("#"):
            return []
        inside += (token in ("(", "[")) - (token in (")", "]"))
        found.append(token)
        if token in ("{", "}"):
            return []
        if token == ";" and not inside:
            return found
    return []


# ---------------------------------------------------------------- changes


def dead_code(launch: Launch) -> Launch:
    """Statements in between that nothing reads, and loops without a turn."""
    text, defines = launch
    parts = tokens(text)
    snippets = cycle(
        (
            " int dead{0} = 7 * {0};",
            " for (int dead{0} = 0; dead{0} < 0; dead{0}++) {{ int unread{0} = dead{0}; }}",
            " {{ float dead{0}[4] = 0; dead{0} += 1; }}",
            " ;",
            " if (0) {{ int dead{0} = 1; }}",
            " int dead{0}[8] = 0 ... 8; dead{0} *= 3;",
            " while (get_program_id(0) < 0) {{ }}",
            " bool dead{0} = get_program_id(1) == 0; dead{0} = !dead{0};",
            " /* nothing */ // at all\n",
        )
    )
    numbers = count()
    places = {at for at, _ in _bodies(parts)}
    changed = [
        token + next(snippets).format(next(numbers)) if at in places else token
        for at, token in enumerate(parts)
    ]
    return "".join(changed), defines


def split(launch: Launch) -> Launch:
    """Declared first and assigned then; ``x += e`` written out."""
    text, defines = launch
    parts = tokens(text)
    types = TYPES | {name for name, value in defines.items() if _names_type(value)}
    changed: dict[int, str] = {}
    for at, _ in _bodies(parts):
        whole = _statement(parts, at)
        words = [token for token in whole if not _is_space(token)]
        if len(words) > 3 and words[0] in types and "__multipleof" not in words:
            changed |= _separated(whole, at)
        elif len(words) > 3 and _is_name(words[0]) and words[1] in _ASSIGNS - {"="}:
            first = whole.index(words[1])
            value = "".join(whole[first + 1 : -1])
            changed |= dict.fromkeys(range(at + 1 + first, at + 1 + len(whole)), "")
            changed[at + 1 + first] = f"= {words[0]} {words[1][:-1]} ({value.strip()});"
    return "".join(changed.get(at, token) for at, token in enumerate(parts)), defines


def _separated(whole: Tokens, at: int) -> dict[int, str]:
    """``T x[..] = e;`` as two statements; nothing for several names at once."""
    inside, equals = 0, -1
    for place, token in enumerate(whole):
        inside += (token in ("(", "[")) - (token in (")", "]"))
        if token == "," and not inside:
            return {}
        if token == "=" and not inside and equals < 0:
            equals = place
    if equals < 0:
        return {}
    head = "".join(whole[:equals])
    name = [token for token in tokens(head.partition("[")[0]) if _is_name(token)][-1]
    if name in whole[equals:]:
        return {}
    return {at + 1 + equals: f"; {name} ="}


def _names_type(value: object) -> bool:
    return str(value).startswith("torch.") or (isinstance(value, str) and value in TYPES)


def given_literals(launch: Launch) -> Launch:
    """Every number of a body is a define that is given with the text."""
    text, defines = _literals(launch, of_text=False)
    return text, defines


def defined_literals(launch: Launch) -> Launch:
    """Every number of a body is a define of the text."""
    return _literals(launch, of_text=True)


def _literals(launch: Launch, of_text: bool) -> Launch:
    text, defines = launch
    parts, names = tokens(text), dict[str, str]()
    depth, changed = 0, []
    for token in parts:
        depth += (token == "{") - (token == "}")
        plain = token.isdigit() or re.fullmatch(r"\d+\.\d*(e[+-]?\d+)?", token)
        if depth and token[0].isdigit() and (of_text or plain):
            changed.append(names.setdefault(token, f"NUMBER_{len(names)}"))
        else:
            changed.append(token)
    if of_text:
        head = "".join(f"#define {name} {number}\n" for number, name in names.items())
        return head + "".join(changed), defines
    given = {name: float(number) if "." in number else int(number) for number, name in names.items()}
    return "".join(changed), {**defines, **given}


def inlined_defines(launch: Launch) -> Launch:
    """Numbers that were given stand in the bodies as literals."""
    text, defines = launch
    numbers = {name: str(int(value)) for name, value in defines.items() if isinstance(value, int)}
    depth, changed = 0, []
    for token in tokens(text):
        depth += (token == "{") - (token == "}")
        changed.append(numbers.get(token, token) if depth else token)
    return "".join(changed), defines


def defines_in_text(launch: Launch) -> Launch:
    """What was given stands in front of the text."""
    text, defines = launch
    lines = [f"#define {name} {_spelled(value)}\n" for name, value in defines.items()]
    return "".join(lines) + text, {}


def _spelled(value: object) -> str:
    words = {"float16": "half", "float32": "float", "float64": "double", "bfloat16": "bfloat16"}
    text = str(int(value)) if isinstance(value, bool) else str(value)
    return words.get(text.removeprefix("torch."), text)


def whiles(launch: Launch) -> Launch:
    """``for`` loops as ``while``."""
    text, defines = launch
    parts = tokens(text)
    while True:
        at = max((at for at, token in enumerate(parts) if token == "for"), default=-1)  # inner ones first
        if at < 0:
            return "".join(parts).replace("\0", "for"), defines
        parts = _as_while(parts, at)


def _as_while(parts: Tokens, at: int) -> Tokens:
    start = parts.index("(", at)
    end = _closing(parts, start)
    init, condition, step = _cut(parts[start + 1 : end])
    first = next(place for place in range(end + 1, len(parts)) if not _is_space(parts[place]))
    stop = _closing(parts, first) if parts[first] == "{" else parts.index(";", first)
    body = "".join(parts[first : stop + 1])
    if "continue" in body:
        return [*parts[:at], "\0", *parts[at + 1 :]]
    loop = f"{{ {init}; while ({condition or '1'}) {{ {body} {step}; }} }}"
    return [*parts[:at], *tokens(loop), *parts[stop + 1 :]]


def _closing(parts: Tokens, at: int) -> int:
    pairs = {"(": ")", "{": "}"}
    depth = 0
    for place in range(at, len(parts)):
        depth += (parts[place] == parts[at]) - (parts[place] == pairs[parts[at]])
        if not depth:
            return place
    raise AssertionError("no closing bracket")


def _cut(parts: Tokens) -> list[str]:
    """The three parts of a ``for``."""
    found, inside = [""], 0
    for token in parts:
        inside += (token in ("(", "[")) - (token in (")", "]"))
        if token == ";" and not inside:
            found.append("")
        else:
            found[-1] += token
    return found


def single_turns(launch: Launch) -> Launch:
    """Every store and assignment in a loop of its own, of one turn."""
    text, defines = launch
    parts = tokens(text)
    before, behind = dict[int, str](), dict[int, str]()
    for number, (at, _) in enumerate(_bodies(parts)):
        whole = _statement(parts, at)
        words = [token for token in whole if not _is_space(token)]
        if len(words) > 2 and (words[0] == "*" or (_is_name(words[0]) and words[1] in _ASSIGNS)):
            first = at + 1 + next(place for place, token in enumerate(whole) if not _is_space(token))
            heads = ("for (int once{0} = 0; once{0} < 1; once{0}++) {{ ", "{{ int once{0} = 1; do {{ ")
            before[first] = heads[number % 2].format(number)
            behind[at + len(whole)] = (" }}", " }} while (--once{0} > 0); }}")[number % 2].format(number)
    changed = [before.get(at, "") + token + behind.get(at, "") for at, token in enumerate(parts)]
    return "".join(changed), defines


def renamed(launch: Launch, names: Iterable[str]) -> Launch:
    """The names that kernels declare become others, awkward ones first."""
    text, defines = launch
    parts = tokens(text)
    taken = {word for token in parts for word in re.findall(r"\w+", token)}
    taken |= {word for value in (*defines, *defines.values()) for word in re.findall(r"\w+", str(value))}
    fresh = (name for name in (*AWKWARD, *(f"renamed_{n}" for n in range(999))) if name not in taken)
    chosen = dict(zip(sorted(names), fresh, strict=False))
    given = {
        name: _replaced(value, chosen) if isinstance(value, str) else value for name, value in defines.items()
    }
    return _replaced(text, chosen), given


def _replaced(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"(?<![\w.])[A-Za-z_]\w*", lambda match: names.get(match.group(), match.group()), text)


CHANGES: dict[str, Callable[[Launch], Launch]] = {
    change.__name__: change
    for change in (
        *(dead_code, split, given_literals, defined_literals, inlined_defines, defines_in_text),
        *(whiles, single_turns),
    )
}
