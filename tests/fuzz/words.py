"""Text: what models answer, what people write, what terminals, servers and other programs print."""

from __future__ import annotations

from acud.base import ids
from acud.base.errors import AcudError
from acud.evaluator.judges import http
from acud.evaluator.judges.judge import JudgePicture
from acud.evaluator.judges.ollama import OllamaProvider
from acud.evaluator.judges.picture_coordinates import Size
from acud.evaluator.judges.prompt import parse_verdict, parse_verdicts
from acud.evaluator.judges.provider import ChatReply, ChatRequest
from acud.evaluator.judges.scripted import ScriptSource
from acud.features.actions import instructions
from acud.features.agent import prompt
from acud.features.grounding.evaluator import claude, omniparser, uitars
from acud.features.scene.evaluator import description
from acud.supervisor.terminal_sessions import tmux
from acud.types import Rect, picture_views
from acud.types.chat import ChatCall, ChatMessage
from acud.waits import baselines
from acud.waits.sentences import read_sentence
from acud.waits.targets import parse_target
from acud_cli import logs, options
from tests.fuzz.decoder import Decoder, of_text

_PICTURE = JudgePicture(b"", 640, 480, 1280, 960)
_QUESTION = ChatRequest((ChatMessage("user", "?"),), pictures=(_PICTURE,))
_SIZE = Size(640, 480)


def _coordinates(text: str) -> None:
    uitars.parse(text)
    omniparser.pick(text, 9)
    description.parse_answer(text, _PICTURE, Rect(5, 5, 1280, 960))


def _calls(text: str) -> None:
    claude.meaning(ChatReply(text, (ChatCall("a", "computer", text),)), _SIZE, "ABSENT")
    for name in ("do", "wait", "done", "escalate"):
        try:
            prompt.parse_decision(ChatCall("a", name, text))
        except AcudError:
            continue


def _id(text: str) -> bool:
    return ids.is_id(text, "wait")


def _tokens(text: str) -> None:
    for read in (baselines.parse_token, picture_views.parse, parse_target, _id):
        try:
            read(text)
        except AcudError:
            continue


def _numbers(text: str) -> None:
    options.seconds_of(text)
    OllamaProvider(text).body(_QUESTION, "m")
    for name in ("retry-after", "retry-after-ms"):
        http.asked_pause_s({name: text})
    http.asked_pause_s({"x-ratelimit-remaining": "0", "x-ratelimit-reset": text})


def _script(text: str) -> None:
    if text.lstrip().startswith("{"):
        ScriptSource(text).read()


def _tmux(text: str) -> None:
    listing = tmux.read_listing(text)
    for name in listing.names:
        listing.shown_panes(name)
    listing.sessions({pid: (pid,) for _, pid in listing.clients})
    mark = tmux.HistoryMark(3, "b")
    tmux.read_panes(text, "mark ", {"%1": mark})
    tmux.find_written(text, mark)


_ACTIONS = [
    "Thought: it is there.\nAction: click(start_box='<|box_start|>(100,200)<|box_end|>')",
    "click(point='<point>10 20</point>')", '{"x": 12, "y": 7.5}', '```json\n{"absent": true}\n```', "7.",
    '{"scene": "a form", "elements": [{"kind": "button", "desc": "Send", "box": [1, 2, 30, 40]}]}',
]  # fmt: skip
_SENTENCES = [
    'click the button "Save"', "type 'hello' into the search field and press enter", "scroll down 3 times in the list",
    "drag the file to the folder", "press ctrl+shift+t", 'select("Country", "Chile")', "double-click the icon",
]  # fmt: skip
_TOKENS = [
    ":100@a1b2/1280x720#17~0123456789abcdef", ":100.w42/1280x720/0,0,640,480@640x480", "region:1,2,3,4", "display::7.0",
    "window:Terminal", "pty:tmux:main", "monitor:HDMI-1",
]  # fmt: skip
_TMUX = "S $1 main\nC $1 0 4711\nP $1 1 0 1 %3 /dev/pts/4\nmark 3\nhello\nmark 4\n"


def _of(texts: list[str]) -> list[bytes]:
    return [text.encode() for text in texts]


WORDS = (
    Decoder("verdicts", of_text(parse_verdict), lambda: _of(["YES: it is", "**NO**\nnot yet", "NO: a\nYES: b"])),
    Decoder(
        "shared_verdicts",
        lambda data: parse_verdicts(data[1:].decode("utf-8", "replace"), 1 + (data[0] if data else 0) % 16),
        lambda: _of(["\x021 YES: a\n2 NO: b\n3 YES: c", "\x01Condition 1: NO: x\n**2** YES: y"]),
    ),
    Decoder("coordinates", of_text(_coordinates), lambda: _of(_ACTIONS)),
    Decoder(
        "tool_calls", of_text(_calls), lambda: _of(['{"action": "left_click", "coordinate": [3, 4]}', '{"until": "x"}'])
    ),
    Decoder("instructions", of_text(lambda text: instructions.parse(text[:2000])), lambda: _of(_SENTENCES)),
    Decoder("sentence_meanings", of_text(read_sentence), lambda: _of(['"Done" is visible', "the word 'x' is gone"])),
    Decoder("tokens", of_text(_tokens), lambda: _of(_TOKENS)),
    Decoder("numbers", of_text(_numbers), lambda: _of(["1h30m", "-5", "10m", "Sun, 06 Nov 2044 08:49:37 GMT", "1e9"])),
    Decoder("scripts", of_text(_script), lambda: _of(['{"rules": [{"pixel": [1, 2, "#00ff00"]}], "fault": "hang"}'])),
    Decoder("tmux", of_text(_tmux), lambda: _of([_TMUX])),
    Decoder("log_lines", of_text(logs.parse), lambda: _of(['{"event": "x", "level": "info", "wait": "w1"}'])),
)
