"""Values: what a secret of each kind looks like behind its label, in a setting and in a sentence."""

from __future__ import annotations

import re

from acud.features.redaction.labels import Label, LabelKind, label_words
from acud.features.redaction.spans import looks_random

_DOTS = re.compile(r"[*•●·∙⚫○xX.…\-–—_ ]{3,}|[-–—.…]")
_HOLDER = r"\$\{?[A-Za-z_(]|\$[0-9]{1,2}$|\{\{|<[A-Za-z_][\w .-]*>|%[A-Za-z_]+%|\[REDACTED_"
_PLACE_HOLDER = re.compile(_HOLDER)
_EXAMPLE = re.compile(
    r"(?:(?:YOUR|MY|THE|NEW|OLD|DB|USER)[_ -]?)?(?:PASSWORD|PASSWD|PASSPHRASE|PASS|SECRET|TOKEN|API_?KEY|KEY)(?:_HERE)?"
    r"|(?:your|my|the|some)[_-](?:[a-z0-9]+[_-]){0,3}(?:password|secret|token|key)(?:[_-]here)?"
)
_REFERENCE = re.compile(
    rf"{_HOLDER}|"
    r"(?:self|this|os|process|config|settings|args|request|req|env|var|local|data|module|options|opts|params|secrets|"
    r"getpass|props|kwargs|user|form|ctx|event|vault|ENV)[.\[]|[A-Za-z_][\w.]*\(|\.\.\.|[<$]\(|"
    r"\(?(?:ConvertTo|ConvertFrom|Get|Read|New|Import|Invoke|Select|Unprotect)-[A-Z][A-Za-z]{2,40}(?![\w!#$%&*+?@^~.-])"
)
"""A variable, a call or a place holder instead of a value."""
_DIGITS = r"(?:[0-9]{2,4}(?:-[0-9]{2,5}){1,4}|[0-9]{2,4}(?: [0-9]{2,4}){1,4}(?!-)|[0-9]{3,12})(?![\w-])"
_CODE = re.compile(
    rf"(?:[A-Z]{{1,3}}-)?{_DIGITS}[#*]?|" r"(?=[A-Za-z-]*[0-9])[A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{3,8}){0,5}"
)
_CHOSEN_DIGITS = re.compile(r"[0-9]{2,4}(?: [0-9]{2,4}){1,4}|[0-9]{4,12}")
_SPACED_DIGITS = re.compile(r"[a-z]{4}(?: [a-z]{4}){3}(?![\w.:/-])|[0-9]{2,4}(?: [0-9]{2,4}){1,4}(?![\w.:/-])")
_PROSE_CODE = re.compile(
    rf"(?:[A-Z]{{1,3}}-)?{_DIGITS}[#*]?|"
    r"(?=[A-Za-z-]*[0-9])[A-Za-z0-9]{3,8}(?:-[A-Za-z0-9]{3,8}){1,5}|(?=[A-Z]*[0-9])[A-Z0-9]{5,10}|(?=[a-z]{0,9}[0-9])[a-z0-9]{6,8}"
)
_ID = re.compile(
    r"(?=(?:[^0-9\n]{0,6}[0-9]){4})(?:[A-Z0-9](?=[^\s]{0,12}[0-9])[A-Za-z0-9]{6,19}(?:[-/][A-Z0-9]{1,5})?(?![A-Za-z0-9])"
    r"|[A-Z0-9]{1,6}(?:[ ./-]{1,2}(?:[A-Z]{0,2}[0-9][A-Z0-9]{0,5}|[A-Z](?![A-Za-z]))){1,7})"
)
_ACCOUNT = re.compile(
    r"(?=(?:[^0-9\n]{0,6}[0-9]){7})[A-Z0-9]{1,34}(?:[ -](?=[A-Z]{0,4}[0-9]|[A-Z]{4}[ ])[A-Z0-9]{1,12}){0,10}"
)
_SYMBOL = re.compile(r"(?<=\w)[#&!%@$+*^~?=_.(){}|<>](?=\w)|[#&!%$^*@](?=\w)|(?<=\w)[#&!%$^*@]")
_HEX = re.compile(r"[0-9A-Fa-f]{1,40}")
_HEX_TOKEN = 32
_DIRECTORY = re.compile(r"(?:[/~.]|[A-Za-z]:\\)[\w./\\~ -]*")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,24}://")
_PATH = re.compile(r"~?(?:/[\w.-]+){2,}/?|[A-Z]:\\\\[\w.\\\\-]+")
_FILE = re.compile(r"[\w.+-]+\.(?:[a-z]{1,4}|[a-z]{2,4}[0-9]|html|json|yaml|toml|conf|lock)|[\w./-]*/[\w./-]*")
_OTHER_SETTING = re.compile(r"[a-z][a-z_-]{1,30}=\w")
_DECIMAL = re.compile(r"[-+]?[0-9]{1,3}[.,][0-9]+")
_DATED = re.compile(
    r"[0-9]{1,4}[-/.:][0-9]{1,2}(?:[-/.:][0-9]{1,4})?(?:T[0-9:Z.]+)?|[0-9]+(?:[.,:%][0-9]*)*(?:ms|s|m|h|d|%|x)?"
)


def looks_chosen(word: str) -> bool:
    """Return whether a word of prose is more likely a password than a word: it mixes what words do not."""
    bare = word.strip("\"'`.,;:()[]{}<>!?")
    if (
        not 4 <= len(bare) <= 200
        or _FILE.fullmatch(bare)
        or _DATED.fullmatch(bare)
        or ("@" in bare[1:-1] and "." in bare)
    ):
        return False
    has_letter, has_digit = any(c.isalpha() for c in bare), any(c.isdigit() for c in bare)
    if not has_letter:
        return has_digit and len(bare) >= 6 and bool(_SYMBOL.search(bare))
    if has_digit or _SYMBOL.search(bare):
        return not re.fullmatch(r"v?[0-9]+(?:\.[0-9]+)*(?:-?(?:rc|alpha|beta|dev)[.0-9]*)?|[a-z]+n?'[a-z]+", bare)
    parts = bare.split("-")
    return len(parts) > 1 and sum(part[:1].isupper() for part in parts) > 1 and all(parts)


_ALGORITHM = re.compile(
    r"(?i:base(?:32|58|64)(?:url)?|sha-?[0-9]{1,3}|md5|utf-?(?:8|16)|[hrep]s(?:256|384|512)|aes-?[0-9]{3}(?:-[a-z]{3})?|oauth2?|"
    r"x[.]?509|ed25519|rsa-?[0-9]{4}|ipv[46]|tls1?[.0-9]*|uuid[0-9]?|u?int(?:8|16|32|64)|float(?:32|64)|hmac-?sha-?[0-9]+)"
)
"""Names that mix letters and digits and are not keys."""
_FORMS_OF_TERMS = {
    "rfc": r"[A-ZÑ&]{3,4}-?[0-9]{6}-?[A-Z0-9]{3}(?![A-Za-z0-9])",  # of Mexico, or of the IETF
    "pan": r"[A-Z]{5}[0-9]{4}[A-Z](?![A-Za-z0-9])",
    "sin": r"[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}(?![A-Za-z0-9-])",
    "nie": r"[XYZxyz][ -]?[0-9]{7}[ -]?[A-Za-z](?![A-Za-z0-9])",
    "cpr": r"[0-9]{6}[ -]?[0-9]{4}(?![A-Za-z0-9-])",
    "nik": r"[0-9]{16}(?![A-Za-z0-9-])",
    "rg": r"[0-9]{1,2}[.]?[0-9]{3}[.]?[0-9]{3}-?[0-9Xx](?![A-Za-z0-9-])",
    "my number": r"[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}(?![\w-]|[ ][0-9])",  # of Japan, or somebody's phone
    "host key": r"[0-9]{6}(?![\w-])",  # of a meeting, or of a host
    "verification": r"[0-9]{3}[ -]?[0-9]{3}(?![\w-])",
    "meeting key": r"[0-9]{6,8}(?![\w-])",
}
"""Terms that have other meanings, and the values that fit this one."""
_FORMS = {term: re.compile(form) for term, form in _FORMS_OF_TERMS.items()}


def is_example(value: str) -> bool:
    """Return whether `value` is a manual's placeholder for a secret: `PASSWORD`, `your_api_key`."""
    return _EXAMPLE.fullmatch(value) is not None


def accepts(found: Label, value: str, *, quoted: bool = False) -> bool:
    """Return whether `value`, right after the label (`:`, `=`, the next cell), may be of its kind.

    `quoted`: it stood in quotes, so it is not a name or a call.
    """
    bare = value.strip().strip("\"'`,;")
    if not bare or _DOTS.fullmatch(bare) or is_example(bare) or (_PLACE_HOLDER if quoted else _REFERENCE).match(bare):
        return False
    if found.term in _FORMS:
        return _FORMS[found.term].match(bare) is not None
    if found.is_bare and found.kind is LabelKind.PASSWORD and (" " in bare or not looks_chosen(bare)):
        return False  # tests pass
    if quoted and found.kind in (LabelKind.PASSWORD, LabelKind.PHRASE):
        return bare.casefold() not in label_words("no_values")
    match found.kind:
        case LabelKind.PASSWORD | LabelKind.PHRASE:
            if _PATH.fullmatch(bare) or _ADDRESS.match(bare) or len(bare) < _SHORTEST:
                return False
            if found.term.endswith("pwd") and _DIRECTORY.fullmatch(bare):
                return False  # PWD=/srv
            first = bare.strip(".,;:()[]{}<>!?\"'`").split(maxsplit=1)
            return (
                bool(first)
                and first[0].casefold().rstrip(".,;:!?)\"'`") not in label_words("no_values")
                and not bare.startswith(("-", "["))
            )
        case LabelKind.KEY:
            return _is_key(found, bare)
        case LabelKind.CODE:
            return _CODE.match(bare) is not None
        case LabelKind.ID:
            return _ID.match(bare) is not None and not _DECIMAL.fullmatch(bare)
        case LabelKind.ACCOUNT | LabelKind.CARD:
            return _ACCOUNT.match(bare) is not None
        case LabelKind.SEED:
            words = re.findall(r"[^\W\d_]+", bare)
            return len(words) >= 3 and all(len(word) >= 3 and word not in label_words("no_seeds") for word in words)


_SHORT_KEY = 6
_SHORTEST = 3
_SHORT_SECRET = 8


def _is_key(found: Label, value: str) -> bool:
    packed = (
        value.replace(" ", "")
        if re.fullmatch(r"[A-Za-z0-9]{3,8}(?: [A-Za-z0-9]{3,8}){2,}", value)
        else value.split()[0]
    )
    packed = re.split("[\"']", packed.strip("\"'`,;)"), maxsplit=1)[0]
    if _ALGORITHM.fullmatch(packed) or "://" in packed or packed.startswith("arn:"):
        return False
    if looks_random(packed):
        return True
    if (
        found.is_setting
        and re.fullmatch(r"[a-z]{4,20}(?:[-_ ]?[a-z0-9]{2,20}){0,5}", value)
        and len(value) >= _SHORT_SECRET
    ):
        return value.casefold() not in label_words("no_values")
    if found.is_bare or re.search(r"[\s(]", packed) or _FILE.fullmatch(packed) or _DATED.fullmatch(packed):
        return False
    mixed = any(c.isdigit() for c in packed) and any(c.isalpha() for c in packed)
    return len(packed) >= _SHORT_KEY and mixed


def accepts_in_prose(found: Label, value: str) -> bool:
    """Return whether a word in a sentence after the label is its value: stricter, because most words are not."""
    match found.kind:
        case LabelKind.PASSWORD | LabelKind.PHRASE:
            bare = value.strip("\"'`.,;:()!?")
            if _OTHER_SETTING.match(bare):
                return False
            return (looks_chosen(value) and not _REFERENCE.match(value)) or _CHOSEN_DIGITS.fullmatch(bare) is not None
        case LabelKind.CODE:
            return _PROSE_CODE.fullmatch(value.strip("\"'`.,;:()!?")) is not None
        case LabelKind.KEY if found.is_bare and _HEX.fullmatch(value.rstrip(".,;:)").removeprefix("0x")):
            # The key of a public one, a commit. A token is neither.
            return found.term in ("token", "secret") and len(value) >= _HEX_TOKEN
    return accepts(found, value)


def find_end(found: Label, text: str, start: int, limit: int) -> int:
    """Return the end of the value that begins at `start`: some kinds have blanks in their values."""
    pattern = {
        LabelKind.PASSWORD: _SPACED_DIGITS,
        LabelKind.CODE: _CODE,
        LabelKind.ID: _ID,
        LabelKind.ACCOUNT: _ACCOUNT,
        LabelKind.CARD: _ACCOUNT,
    }.get(found.kind)
    match = pattern.match(text, start, limit) if pattern is not None else None
    return match.end() if match is not None else start
