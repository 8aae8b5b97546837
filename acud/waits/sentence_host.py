"""Clauses about files and processes of the daemon's machine: `report.pdf has been downloaded`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from acud.types import FileState, ProcessExit, Until
from acud.waits.sentence_phrase import Phrase
from acud.waits.sentence_words import BE_, CALLED, MORE, NOT, Read, Row, particle, verb

_NAMED_FILE = r"(?:(?P<file><\d+>)|(?P<ext>\.\w{1,8})(?= files?\b)|(?P<bare>[^<>\s/]+\.\w{1,8}(?:\.\w{1,4})?))"
_PATH = rf"(?:(?P<path>[~/][^<>]*?[^<>\s,])|{_NAMED_FILE})"
_FOLDER = (
    r"(?:(?:the )?(?:folder |directory )?(?P<folder>[~/][^<>\s,]*|<\d+>)|(?:my |the"
    r" )?(?P<home>Downloads)(?: folder| directory)?)"
)
_KINDS = (
    r"(?:(?:(?!(?:new|newer|newest|old|older|other|another|second|partial|half|copy|first|last|of|in"
    r"|on|to|and|or|not|no)\b)"
    r"[.\w-]+ ){0,2}(?:file|archive|backup|document|image|picture|screenshot|video|movie|song|recording|spreadsheet"
    r"|presentation|pdf|zip|tarball|iso|csv|dump|installer|package|log|log file|lockfile|report|export|render) )"
)
_DONE = r"(?:complete|completed|done|finished|ready|over|through)"
_WHOLE = r"(?:completely|fully|entirely|wholly)"
_LOADED = (
    r"(?:(?:has )?(?:come down|finished its download)|(?:finish(?:es|ed)?|has finished|have finished|to finish"
    r"|completed|is done|is finished) "
    rf"(?:downloading|writing|copying|being written)"
    rf"|{BE_}(?:{_WHOLE} )?(?:downloaded|written|saved|copied|transferred)(?: to disk)?(?: {_WHOLE}| in full)?"
    rf"|(?:has|have) (?:{_WHOLE} )?(?:downloaded|arrived)|{BE_}(?:{_WHOLE} )?complete|is {_WHOLE} there"
    rf"|is there (?:{_WHOLE}|in full)"
    rf"|(?:is )?no longer being (?:written(?: to)?|downloaded)|(?:stops|has stopped) growing|is no longer growing"
    rf"|(?:exists|is there) and (?:is (?:{_WHOLE} )?(?:complete|written)|(?:is )?no longer growing|has stopped growing)"
    rf"|is not (?:being written|growing) any more|does not grow any more)"
)
_THERE = (
    rf"(?:exists?|to exist|comes into being|came into being|{verb('appear', 'appears', 'appeared')} on (?:the )?disk"
    rf"|{BE_}(?:there|created|present|around|available)|to be there"
    rf"|{verb('appear', 'appears', 'appeared')}"
    rf"|{particle('show/shows/shown+showed turn/turns/turned pop/pops/popped come/comes/come', 'up')}"
    rf"|{verb('arrive', 'arrives', 'arrived')}|{verb('land', 'lands', 'landed')})"
)
_DELETED = (
    rf"(?:{BE_}(?:gone|deleted|removed|disappeared|erased)|{verb('disappear', 'disappears', 'disappeared')}"
    rf"|{verb('vanish', 'vanishes', 'vanished')}|to be (?:deleted|removed|gone)"
    rf"|{NOT} (?:exists?|there|present|around){MORE}|(?:does not|no longer) exists?{MORE}"
    rf"|{verb('go away', 'goes away', 'went away|gone away')})"
)


_MORE_THAN_A_PATH = re.compile(r"^(?!.*\.\w{1,8}$)| (?:and|or|nor) | [~/]")
_AS_TEXT = re.compile(
    r"(?i) (?:appear|show|turn|pop|come|came|disappear|vanish|go|went)\w*\b| (?:there|gone|present"
    r"|around|disappeared)\b"
)


def _file_reader(*, whole: bool = True, gone: bool = False, downloads: bool = False, plural: bool = False) -> Read:
    def read(phrase: Phrase, found: re.Match[str]) -> Until | None:
        groups = found.groupdict()
        given = f"*{groups['ext']}" if groups.get("ext") and found[0][:4].casefold() != "the " else ""
        given = given or groups.get("path") or phrase.quote(groups.get("file") or "") or groups.get("bare") or ""
        folder = (
            "~/Downloads" if groups.get("home") else phrase.quote(groups.get("folder") or "") or groups.get("folder")
        )
        if groups.get("path") and " " in given and _MORE_THAN_A_PATH.search(given) is not None:
            return None
        if groups.get("file") and not folder and not groups.get("kind") and _AS_TEXT.search(found[0]) is not None:
            return None  # quoted words appear, a file exists
        if folder:
            given = (
                f"{folder.rstrip('/')}/{given}" if given and "/" not in given and folder.startswith(("/", "~/")) else ""
            )
        is_path = given.startswith(("/", "~/")) and not given.endswith("/")
        is_download = downloads and "download" in found[0].replace(given or "/", "").casefold()
        if not is_path and (not is_download or "/" in given or "." not in given):
            return None  # where a bare name lies is not certain
        if plural and "*" not in given:
            return None
        return FileState(given if is_path else f"~/Downloads/{given}", 1.0 if whole else 0.0, gone=gone)

    return read


def _read_process(phrase: Phrase, found: re.Match[str]) -> Until | None:
    pid = int(found["pid"])
    return ProcessExit(pid) if 0 < pid <= 4_194_304 else None


def file_rows() -> Iterator[Row]:
    a_file = rf"(?:(?:the |a |an |my |any |some )?(?P<kind>{_KINDS}(?:at )?)?|the |a )?(?:{CALLED} |matching )?"
    for state, read in (
        (_DELETED, _file_reader(gone=True)),
        (_LOADED, _file_reader(downloads=True)),
        (_THERE, _file_reader(whole=False)),
    ):
        yield rf"{a_file}{_PATH} {state}", read
        yield rf"any {_PATH} file {state}", read
        for subject in (rf"{a_file}{_NAMED_FILE}", rf"(?:any |an? |the ){_NAMED_FILE} file"):
            yield rf"{subject} (?:in|into|to) {_FOLDER} {state}", read
            yield rf"{subject} {state} (?:in|into|to|from) {_FOLDER}", read
    yield rf"{a_file}{_NAMED_FILE} (?:is|lies|to be) (?:now )?in {_FOLDER}", _file_reader(whole=False)
    gone_all = _file_reader(gone=True, plural=True)
    for subject in (
        rf"files matching {_PATH}",
        rf"{_PATH}(?: files)?",
        rf"(?:files matching"
        rf" )?{_NAMED_FILE}(?: files)? in {_FOLDER}",
    ):
        yield rf"(?:all |the |all the |all of the |any ){subject} {_DELETED}", gone_all
        left = r"(?:is|are) left|remains?|exists?|(?:is|are) there"
        yield rf"(?:there (?:is|are) )?no (?:more )?(?:file matching )?{subject}(?: file)? (?:{left}){MORE}", gone_all
    yield rf"no (?:more )?{_NAMED_FILE}(?: files?)? (?:{left}) in {_FOLDER}{MORE}", gone_all
    yield rf"there (?:is|are) no (?:more )?{_NAMED_FILE}(?: files?)?(?: left)? in {_FOLDER}{MORE}", gone_all
    yield rf"a file (?:has been|is|gets) (?:created|written) at {_PATH}", _file_reader(whole=False)
    holds = rf"(?!\S+\.\w+ ){_FOLDER} (?:contains|has|to contain) (?:now )?{a_file}{_NAMED_FILE}"
    yield holds, _file_reader(whole=False)
    yield rf"there is (?:now )?(?:a |an |the )?{_KINDS}(?:{CALLED} |matching )?{_PATH}", _file_reader(whole=False)
    yield rf"there is (?:no|no longer a) (?:{_KINDS})?(?:{CALLED} )?{_PATH}{MORE}", _file_reader(gone=True)
    yield (
        rf"(?:my |the )?(?:browser|firefox|chrome|chromium|safari) has (?:finished downloading|downloaded) {_PATH}",
        (_file_reader(downloads=True)),
    )
    yield (
        (
            rf"there is (?:now )?(?:a |an |the |any )?{_KINDS}?(?:{CALLED} |matching )?{_NAMED_FILE}(?:"
            rf" file)? in {_FOLDER}"
        ),
        _file_reader(whole=False),
    )
    finished = rf"(?:{BE_}{_DONE}|finishes|completes|ends|has finished|has completed|has ended|to finish|to complete)"
    for download in (rf"download(?: of)? (?:the )?{_KINDS}?{_PATH}", rf"{_PATH} download"):
        yield rf"(?:the |my )?{download} {finished}", _file_reader(downloads=True)
    yield rf"downloading (?:the )?{_KINDS}?{_PATH} {finished}", _file_reader(downloads=True)


def process_rows() -> Iterator[Row]:
    pid = (
        r"(?:(?:(?:the |my )?(?:process|(?:job|command|program|task|script|build|compiler|server|app|application"
        r"|simulation|training)(?= (?:with|running as|whose) (?:the )?p))(?: with| running as| whose)?"
        r"(?: the)?(?: (?:pid|process (?:id|number)|id))?"
        r"|(?:the )?pid)(?: number| no\.?| is)? #?(?P<pid>\d+))"
    )
    gone = r"(?:running|alive|there|around|active)"
    ended = (
        r"(?:(?:ends|exits|finishes|terminates|dies|quits|stops|completes|disappears|goes away|comes"
        r" to an end|has come to an end|has finished (?:running|working|its work))"
        r"|(?:(?:has|have|is|are|gets) )?(?:ended|exited|finished|terminated|died|done|gone(?: away)?|closed|been"
        r" closed|over|through|dead|no more"
        r"|stopped"
        r"|completed|quit)"
        rf"|(?:is )?(?:no longer|not) {gone}{MORE}|(?:no longer|does not) exists?{MORE}|stops running"
        rf"|has stopped running"
        r"|to (?:end|exit|finish|terminate|stop|quit|die|be done|be gone|complete|disappear))"
    )
    yield rf"{pid} {ended}", _read_process
    yield rf"there is no {pid}{MORE}", _read_process
