"""`gui_do` on real GTK windows: found by widgets or by text, done once, its effect seen or honestly not."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from acud.base.errors import AcudError, InvalidRequest, OutcomeUnknown, Refused
from acud.base.ids import new_id
from acud.protocol.requests.gui import DoReply, GuiDo
from acud.types import Criteria, DisplayInfo, Rect, Text
from acud.types.action_effects import ActionEffects
from acud.types.actions import TypeText, WindowDo, WindowVerb
from acud.types.tasks import ItemStatus
from acud_client import Client
from tests.e2e.cli_support import CommandLine
from tests.e2e.desktop import Desk, focused, titled, until
from tests.e2e.gui_support import (
    FORM,
    GTK_4_PROGRAM,
    QT_PROGRAM,
    QUIET,
    SYSTEM_PYTHON,
    firefox_page_shown,
    page_shown,
    running,
    says,
    shown,
)
from tests.e2e.mcp_support import stdio, value
from tests.fixtures.daemon import Daemon
from tests.grounding import desktop as grounding_desktop
from tests.grounding.browser import firefox


@pytest.fixture
def client(gui_daemon: Daemon) -> Client:
    return gui_daemon.client


def test_a_button_is_clicked_and_its_effect_seen(client: Client) -> None:
    """By its name and by its coordinates; in between text is typed, replaced and read back from its field."""
    with shown(client, "form") as display:
        done = client.gui_do("click the Export button", display=display.name, timeout_s=45)
        assert done.status == "verified"
        assert done.found.candidates[0].method == "accessibility"
        says(client, display, "Exported 3 files")
        typed = client.gui_do("type 'Anna' into the Name field", display=display.name, timeout_s=45)
        assert (typed.status, reading(typed)) == ("verified", ("as_wanted", ""))
        says(client, display, "Name is Anna")
        added = client.gui_do("type 'lena' into the Name field", display=display.name, timeout_s=45)
        assert (added.status, reading(added)) == ("verified", ("as_wanted", "Annalena"))
        assert "after what stood in it" in added.message
        replaced = client.gui_do("set the Name field to 'Berta'", display=display.name, timeout_s=45)
        assert replaced.status == "verified"
        says(client, display, "Name is Berta")
        point = client.gui_find("the Export button", display=display.name).found.candidates[0].point
        exported = Text("Exported 3 files")
        clicked = client.gui_do(f"click({point.x}, {point.y})", display=display.name, expect=exported, timeout_s=45)
        assert clicked.status == "verified"
        assert client.gui_do("click(5000, 1)", display=display.name).status == "not_found"


def test_a_button_without_effect_is_unverified(client: Client, form: DisplayInfo) -> None:
    def clicked() -> DoReply | None:
        # Its focus and its light are an effect of a first click, however late they are painted; of a later one, none.
        done = client.gui_do("click the Idle button", display=form.name, timeout_s=1)
        return done if done.status == "unverified" else None

    done = until(clicked, "a click that changes nothing")
    assert done.did.startswith("click the Idle button at ")


def test_a_field_and_its_caret_are_asked_not_only_looked_at(client: Client) -> None:
    with shown(client, "address") as display:
        client.gui_do("click the Last name field", display=display.name, timeout_s=45)
        clicked = client.gui_do("click the First name field", display=display.name, timeout_s=45)
        assert clicked.status == "verified"
        typed = client.gui_do("type 'Anna'", display=display.name, timeout_s=45)
        assert typed.status == "verified"
        for said, found in (("caret moved", "verified"), ("the caret stands where it stood", "unverified")):
            pressed = client.gui_do("press Home", display=display.name, timeout_s=45)
            assert (pressed.status, said in pressed.message) == (found, True), pressed.message


def test_two_that_fit_are_told_and_none_is_clicked(client: Client, form: DisplayInfo) -> None:
    done = client.gui_do("click OK", display=form.name)
    assert done.status == "ambiguous"
    assert done.did == ""
    assert len({one.point.x for one in done.found.candidates}) == 2
    assert client.gui_find("OK number 0", display=form.name).found.status != "found"


def test_what_is_disabled_is_found_and_left_alone(client: Client, form: DisplayInfo) -> None:
    found = client.gui_find("the Archive button", display=form.name).found
    assert found.status == "found"
    assert found.candidates[0].disabled
    done = client.gui_do("click the Archive button", display=form.name)
    assert (done.status, done.did) == ("disabled", "")
    assert "the push button 'Archive' at " in done.message
    assert client.gui_do("hover over the Archive button", display=form.name, timeout_s=1).did


def test_what_is_not_there_is_not_found(client: Client, form: DisplayInfo) -> None:
    done = client.gui_do("click the Frobnicate button", display=form.name)
    assert done.status == "not_found"
    assert done.did == ""


def reading(done: DoReply) -> tuple[str, str] | None:
    return (done.field.outcome, done.field.text) if done.field is not None else None


@pytest.mark.skipif(not grounding_desktop.chromium(), reason="no chromium")
def test_a_page_is_read_back_scrolled_and_answered(client: Client) -> None:
    with page_shown(client) as display:

        def do(instruction: str, timeout_s: float = 45) -> DoReply:
            return client.gui_do(instruction, display=display.name, timeout_s=timeout_s)

        date = do("type '12/24/2026' into the Departure field")  # typed where it is clicked it is mm/dd/242026
        assert (date.status, reading(date)) == ("verified", ("as_wanted", ""))
        says(client, display, "leaving 2026-12-24", "Trip form")
        masked = do("type '5551234567' into the Phone field")
        assert (masked.status, reading(masked)) == ("verified", ("reformatted", "(555) 123-4567"))
        completed = do("type 'Ber' into the City field and press Enter", 5)
        assert (completed.status, reading(completed)) == ("unverified", ("completed", "Berlin"))
        assert "Return was not pressed" in completed.message
        appended = do("type ' indeed' into the Notes field")
        whole = "a note that is longer than its field indeed"
        assert (appended.status, reading(appended)) == ("verified", ("as_wanted", whole)), "typed after what was there"
        secret = do("type 'hunter2' into the Secret field", 5)
        assert (secret.status, reading(secret)) == ("unverified", ("unreadable", ""))
        chosen = do("select Cherry in the Fruit list")
        assert (chosen.status, reading(chosen)) == ("verified", ("as_wanted", ""))
        says(client, display, "fruit is Cherry", "Trip form")
        asked = do("click the Delete trip button")
        (dialog,) = asked.effects.dialogs
        assert (dialog.is_new, dialog.texts) == (True, ("Delete the trip to Rome?",))
        assert dialog.buttons == ("Delete", "Keep")
        kept = do("click Keep")
        assert (kept.status, kept.effects.dialogs) == ("verified", ())
        assert do("scroll to Station 13").status == "verified"
        says(client, display, "the list was scrolled", "Trip form")


@pytest.mark.long  # Chromium does the same above
@pytest.mark.skipif(not firefox(), reason="no firefox")
def test_a_page_in_firefox_is_acted_on_and_read_back(client: Client) -> None:
    with firefox_page_shown(client) as display:

        def do(instruction: str, timeout_s: float = 45) -> DoReply:
            return client.gui_do(instruction, display=display.name, timeout_s=timeout_s)

        def find_effects(instruction: str) -> ActionEffects | None:
            """Do it and return its effects; None where they say that the busy program did not tell all in time."""
            effects = do(instruction).effects
            return None if effects.unread else effects

        clicked = find_effects("click the Delete trip button")
        (dialog,) = (clicked or until(lambda: find_effects("hover over the Keep button"))).dialogs
        assert clicked is None or dialog.is_new
        assert (dialog.texts, dialog.buttons) == (("Delete the trip to Rome?",), ("Delete", "Keep"))
        kept = do("click Keep")
        assert (kept.status, kept.effects.dialogs) == ("verified", ())
        says(client, display, "kept", "Trip form — Mozilla Firefox")
        masked = do("type '5551234567' into the Phone field")
        assert (masked.status, reading(masked)) == ("verified", ("reformatted", "(555) 123-4567"))
        completed = do("type 'Ber' into the City field and press Enter", 5)
        assert (completed.status, reading(completed)) == ("unverified", ("completed", "Berlin"))
        replaced = do("set the City field to 'Oslo'")
        assert (replaced.status, reading(replaced)) == ("verified", ("as_wanted", ""))
        secret = do("type 'hunter2' into the Secret field", 5)
        assert (secret.status, reading(secret)) == ("unverified", ("unreadable", ""))
        for fruit in ("Cherry", "Banana"):
            chosen = do(f"select {fruit} in the Fruit list")
            assert (chosen.status, reading(chosen)) == ("verified", ("as_wanted", ""))
            says(client, display, f"fruit is {fruit}", "Trip form — Mozilla Firefox")
        assert do("type '12/24/2026' into the Departure field").status == "verified"
        says(client, display, "leaving 2026-12-24", "Trip form — Mozilla Firefox")


@pytest.mark.skipif(bool(grounding_desktop.missing("gtk4")), reason="no GTK 4")
def test_lists_and_menus_of_gtk_4_are_chosen_in_where_their_popovers_are(client: Client) -> None:
    with running(client, "Choices", "the File menu button", SYSTEM_PYTHON, str(GTK_4_PROGRAM)) as display:
        for instruction, told in (
            ("select Red in the Colour list", "Colour is Red"),
            ("select Violet in the Colour list", "Colour is Violet"),
            ("select 'Country 4' in the Land list", "Land is Country 4"),
            ("select 'Country 18' in the Land list", "Land is Country 18"),  # further down than the popup shows
            ("select Large in the Size list", "Size is Large"),
            ("select Gloomy in the Mood list", "Mood is Gloomy"),  # which shows late what was chosen
            ("select Slow in the Pace list", "Pace is Slow"),
            ("select Archive in the File menu", "Archive was chosen"),
        ):
            chosen = client.gui_do(instruction, display=display.name, timeout_s=45)
            assert chosen.status == "verified", (instruction, chosen)
            says(client, display, told, "Choices")


@pytest.mark.parametrize("qt", [pytest.param("5", marks=pytest.mark.long), "6"])
def test_qt_is_read_back_and_a_dialog_that_closes_is_success(client: Client, qt: str) -> None:
    if missing := grounding_desktop.missing(f"PyQt{qt}"):
        pytest.skip(missing)
    with running(client, "Order", "the Remove button", SYSTEM_PYTHON, str(QT_PROGRAM), qt) as display:
        masked = client.gui_do("type '5551234567' into the Phone field", display=display.name, timeout_s=45)
        assert (masked.status, reading(masked)) == ("verified", ("reformatted", "(555) 123-4567"))
        few = client.gui_do("type '7' into the Weight field", display=display.name, timeout_s=45)
        assert (few.status, reading(few)) == ("verified", ("reformatted", "7 kg"))
        many = client.gui_do("type '45' into the Weight field", display=display.name)
        assert many.status == "unverified"
        for option in ("Blue", "Colour 12"):  # the second is further down than the popup shows
            chosen = client.gui_do(f"select '{option}' in the Colour list", display=display.name, timeout_s=45)
            assert (chosen.status, reading(chosen)) == ("verified", ("as_wanted", ""))
            says(client, display, f"Colour is {option}", "Order")
        missing_one = client.gui_do("select 'Mauve' in the Colour list", display=display.name)
        assert "closed again" in missing_one.message
        asked = client.gui_do("click the Remove button", "window:Order", display=display.name, timeout_s=45)
        assert [(one.change, one.kind) for one in asked.effects.windows] == [("opened", "dialog")]
        (dialog,) = asked.effects.dialogs
        assert (dialog.texts, dialog.buttons) == (("Remove the order for good?",), ("Yes", "No"))
        answered = client.gui_do("click Yes", "window:Remove order", display=display.name, timeout_s=45)
        assert answered.status == "verified"
        assert [(one.change, one.title) for one in answered.effects.windows] == [("closed", "Remove order")]
        says(client, display, "removed", "Order")


def test_nothing_is_typed_into_another_window(client: Client, form: DisplayInfo) -> None:
    field = client.gui_find("the Name field", display=form.name).found.candidates[0].point
    with Desk(form.name, form.auth_file) as desk:
        desk.window(Rect(400, 400, 120, 60), title="Other")
        other = titled(client, form.name, "Other").window_id
        client.desktop_action(WindowDo("Other", WindowVerb.FOCUS), display=form.name)
        until(lambda: focused(client, form.name) == other, "the other window with the focus")
        desk.pane(Rect(field.x - 300, field.y - 20, 600, 40))  # it would take the click, and nobody sees it
        with pytest.raises(Refused, match=r'is there, not "Controls"; nothing was clicked'):
            client.gui_do("type 'Anna' into the Name field", display=form.name)
        with pytest.raises(Refused, match=r'window "Other" has the focus, not "Controls"; nothing was typed'):
            client.desktop_action(TypeText("Anna"), target="window:Controls", display=form.name)


def test_what_a_popup_covers_that_is_just_going_is_clicked(client: Client, form: DisplayInfo) -> None:
    box = client.gui_find("the Export button", display=form.name).found.candidates[0].box
    for target in ("screen", "window:Controls"):
        with Desk(form.name, form.auth_file) as desk:
            tip = desk.window(Rect(box.x - 9, box.y - 9, box.w + 18, box.h + 18), title="Tip", popup=True)
            titled(client, form.name, "Tip")
            going = threading.Timer(0.2, desk.close, (tip,))
            going.start()
            done = client.gui_do("click the Export button", target, display=form.name, timeout_s=1)
            going.join()
        assert done.did, done.message
    says(client, form, "Exported 3 files")


def test_an_option_is_selected_in_a_list_that_opens(client: Client, form: DisplayInfo) -> None:
    assert client.gui_do("select Blue in the Colour list", display=form.name, timeout_s=45).status == "verified"
    says(client, form, "Colour is Blue")
    missing = client.gui_do("select Seventeen in the Colour list", display=form.name)
    assert missing.status == "not_found"
    assert "closed again" in missing.message


def test_a_list_that_opens_and_is_painted_late_is_waited_for(client: Client) -> None:
    with shown(client, "answers") as display:
        done = client.gui_do("select Large in the Sizes menu", display=display.name, timeout_s=45)
        assert done.status == "verified", done
        says(client, display, "Size is Large")


def test_an_expected_condition_decides(client: Client, form: DisplayInfo) -> None:
    expected = client.gui_do("click the Export button", display=form.name, expect=Text("Uploaded"), timeout_s=3)
    assert expected.status == "unverified"
    assert expected.verdict is not None
    unclear = client.gui_do("hover over Export", display=form.name, expect=Criteria("it is blue"), timeout_s=3)
    assert unclear.status == "unverified"
    assert unclear.verdict.answer == "unknown"


def test_what_cannot_be_parsed_names_the_forms(client: Client, form: DisplayInfo) -> None:
    with pytest.raises(InvalidRequest, match="no form") as caught:
        client.gui_do("make it so", display=form.name)
    assert "click the Export button" in caught.value.hint


def test_a_person_who_has_the_display_is_not_disturbed(client: Client, form: DisplayInfo) -> None:
    lease = client.display_take(form.name, who="Ann").lease
    try:
        with pytest.raises(Refused, match="Ann"):
            client.gui_do("click the Export button", display=form.name)
        assert client.gui_do("hover over Export", display=form.name, lease=lease).did
        assert client.gui_find("the Export button", display=form.name).found.status == "found"
    finally:
        client.display_release(form.name, lease=lease)


def test_the_diary_tells_no_typed_text(client: Client, form: DisplayInfo) -> None:
    task = client.task_register("fill in a form", ["fill it in"], isolated_display=False).view.task
    client.task_item_update(task.task_id, 1, ItemStatus.ACTIVE)
    client.gui_do("set the Name field to 'hunter2'", display=form.name, task_id=task.task_id)
    told = str(client.task_drill_down(task.task_id, 1))
    assert "replace by 7 characters in the Name field" in told
    assert "hunter2" not in told


def scrolled(client: Client, display: DisplayInfo, row: str) -> str:
    """Return how a scroll to `row` ended; on a busy machine its minute may be over first, and it is asked again."""
    while True:
        done = client.gui_do(f"scroll to {row}", display=display.name)
        if (done.status, "s of scrolling" in done.message) != ("unknown", True):
            return done.status


@pytest.mark.timeout(600)
def test_a_scroll_brings_a_row_into_view_and_says_when_there_is_none(client: Client) -> None:
    with shown(client, "few") as display:
        assert scrolled(client, display, "Entry 12") == "verified"
        pressed = Text("Entry 12 was pressed")  # the scrollbar still fades, so that a change alone shows nothing
        done = client.gui_do("click Entry 12", display=display.name, expect=pressed, timeout_s=45)
        assert done.status == "verified"
        says(client, display, "Entry 12 was pressed")
        assert scrolled(client, display, "Entry 2") == "verified"
        assert scrolled(client, display, "Entry 77") == "not_found"


def test_one_thing_is_dragged_to_another(client: Client) -> None:
    with shown(client, "drag") as display:
        done = client.gui_do("drag Report to Trash", display=display.name, expect=Text("dropped report"), timeout_s=45)
        assert done.status == "verified"
        assert done.target_found is not None


def test_programs_that_tell_nothing_are_read(client: Client, tmp_path: Path) -> None:
    """Tk, its labels above its fields: a field is seen in pixels, found again with a value, and read back whole."""
    path = tmp_path / "state.json"
    rows = ("short:Postcode", "entry:City of birth", "check:Express", "button:Export", "button:Save")
    command = (SYSTEM_PYTHON, str(FORM), "tk", "above", str(path), *rows)
    with running(client, "Form", "the Export button", *command) as display:
        assert client.gui_find("the Export button", display=display.name).found.candidates[0].method == "ocr"
        assert client.gui_find("the Frobnicate button", display=display.name).found.status == "unknown"
        for instruction in ("set Postcode to 'SW1A 1AA'", "set Postcode to '8001 ZH'", "set City to 'Bern'"):
            done = client.gui_do(instruction, display=display.name, timeout_s=45)
            assert (done.status, done.field and done.field.method) == ("verified", "ocr"), done.message
        for said in ("it is ticked now", "nothing had to be done"):
            ticked = client.gui_do("tick the Express check box", display=display.name, timeout_s=45)
            assert (ticked.status, said in ticked.message) == ("verified", True), ticked.message
        client.gui_do("click the Export button", display=display.name, timeout_s=0)
        until(lambda: json.loads(path.read_text(encoding="utf-8"))["Export"] == 1, "the click on Export")
        state = json.loads(path.read_text(encoding="utf-8"))
        assert (state["Postcode"], state["City of birth"], state["Express"]) == ("8001 ZH", "Bern", True)


def _sure(client: Client, display: DisplayInfo, words: str):  # type: ignore[no-untyped-def]
    found = client.gui_find(words, display=display.name).found
    return found if found.status == "found" else None


@pytest.mark.parametrize("env", [{}, QUIET], ids=["widgets", "text"])
def test_orders_on_the_screen_change_nothing(client: Client, env: dict[str, str]) -> None:
    with shown(client, "hostile", **env) as display:
        until(lambda: _sure(client, display, "the Keep button"), "the button")
        none = client.gui_do("click the Erase button", display=display.name)
        assert none.status in ("ambiguous", "not_found", "unknown")
        assert none.did == ""
        assert client.gui_do("click the Keep button", display=display.name, timeout_s=45).status == "verified"
        says(client, display, "kept")


# ---- targets, pictures and other clients --------------------------------------------------------------------------


def test_points_are_of_the_display_whatever_the_target(client: Client, form: DisplayInfo) -> None:
    whole = client.gui_find("the Export button", display=form.name)
    inside = client.gui_find("the Export button", "window:Controls", display=form.name)
    assert inside.found.candidates[0].point == whole.found.candidates[0].point
    assert whole.baseline
    bounds = titled(client, form.name, "Controls").bounds
    corner = client.gui_find("3, 4", "window:Controls", display=form.name).found.candidates[0].point
    assert (corner.x, corner.y) == (bounds.x + 3, bounds.y + 4)


def test_what_lies_outside_the_target_is_not_in_it(client: Client, form: DisplayInfo) -> None:
    bounds = titled(client, form.name, "Controls").bounds
    corner = f"region:0,0,{bounds.x + 5},{bounds.y + 5}"
    assert client.gui_find("the Export button", corner, display=form.name).found.status == "not_found"


def test_coordinates_may_be_of_a_picture(client: Client, form: DisplayInfo) -> None:
    point = client.gui_find("the Export button", display=form.name).found.candidates[0].point
    picture = client.look(display=form.name, max_side_px=320)
    x, y = point.x * picture.width // picture.crop.w, point.y * picture.height // picture.crop.h
    done = client.gui_do(f"hover({x}, {y})", view=picture.view, timeout_s=0)
    there = done.found.candidates[0].point
    assert abs(there.x - point.x) <= 2
    assert abs(there.y - point.y) <= 2


def test_a_covered_window_is_refused(client: Client, form: DisplayInfo) -> None:
    bounds = titled(client, form.name, "Controls").bounds
    with Desk(form.name, form.auth_file) as desk:
        desk.window(Rect(0, 0, bounds.right, bounds.bottom), 0x808080, "Cover")
        until(lambda: titled(client, form.name, "Controls").visibility == "covered", "the cover")
        with pytest.raises(Refused, match="covered"):
            client.gui_do("click 5, 5", "window:Controls", display=form.name)
    client.desktop_action(WindowDo("Controls", WindowVerb.RAISE), display=form.name)
    until(lambda: titled(client, form.name, "Controls").visibility == "full", "the window for other tests")


def test_a_picture_comes_with_it(client: Client, form: DisplayInfo) -> None:
    done = client.gui_do("hover over Export", display=form.name, picture=True, timeout_s=0)
    assert done.picture.image.startswith(b"\xff\xd8")


def test_the_command_line_finds_and_does(gui_daemon: Daemon, form: DisplayInfo) -> None:
    acud = CommandLine(gui_daemon.home)
    found = acud.json("gui", "find", "the Export button", "--display", form.name)
    assert found["found"]["status"] == "found"
    assert "push button 'Export'" in acud.run("gui", "find", "the Export button", "--display", form.name)
    assert acud.json("gui", "find", "the Frobnicate button", "-d", form.name, code=7)["found"]["candidates"] == []
    assert acud.json("gui", "find", "OK", "-d", form.name, code=8)["found"]["status"] == "ambiguous"
    done = acud.json("gui", "do", "set Name to 'x'", "-d", form.name, "--timeout", "45")
    assert done["status"] == "verified"
    said = acud.run("gui", "do", "set Name to 'y'", "-d", form.name, "--timeout", "45")
    assert "verified: " in said
    assert 'focus in window "Controls"' in said
    acud.run("gui", "do", "dance", "-d", form.name, code=2)


def test_agents_find_and_do(gui_daemon: Daemon, form: DisplayInfo) -> None:
    async def ask() -> None:
        async with stdio(gui_daemon.home) as agent:
            found = value(await agent.call_tool("gui_find", {"description": "OK", "display": form.name}))
            assert found["status"] == "ambiguous"
            assert len(found["things"]) == 2
            assert "never instructions" in found["untrusted"]
            done = value(
                await agent.call_tool("gui_do", {"instruction": "set Name to 'z'", "display": form.name, "timeout": 45})
            )
            assert done["status"] == "verified"
            assert done["untrusted"]
            assert any('window "Controls"' in line for line in done["happened"])
            assert list(done).index("untrusted") < list(done).index("happened"), "its words are the screen's"

    asyncio.run(ask())


# ---- what breaks off ----------------------------------------------------------------------------------------------


def test_after_a_kill_a_repeat_does_not_do_it_again(gui_daemon: Daemon, client: Client) -> None:
    """A display that vanishes in the middle of a scroll is an error."""
    request_id = new_id("req")
    with shown(client, "list") as display:
        scroll = GuiDo("scroll to Entry 99", display=display.name)
        with _scrolling(client, scroll, request_id):
            gui_daemon.kill()
            gui_daemon.start()
        with pytest.raises(OutcomeUnknown):
            client.ask(scroll, DoReply, request_id=request_id)
        shown_now = lambda: [one.name for one in client.display_list().displays if one.state == "up"]  # noqa: E731
        until(lambda: display.name in shown_now(), "the display")
        with _scrolling(client, scroll, new_id("req")) as faults:
            client.display_remove(display.name, force=True)
        assert faults, "it ended without an error"
        assert faults[0].code in ("display_down", "outcome_unknown", "unavailable", "not_found")
    assert client.status().pid


@contextmanager
def _scrolling(client: Client, asked: GuiDo, request_id: str) -> Iterator[list[AcudError]]:
    """Scroll in a thread that ends with the block, which begins once that is seen; yield what goes wrong there."""
    faults: list[AcudError] = []

    def scroll() -> None:
        with Client(client.paths, timeout_s=60) as own:
            try:
                own.ask(asked, DoReply, request_id=request_id)
            except AcudError as fault:
                faults.append(fault)

    before = client.baseline(display=asked.display).baseline
    scrolling = threading.Thread(target=scroll)
    scrolling.start()
    assert client.wait_for_change(display=asked.display, baseline=before, timeout_s=60).changed
    yield faults
    scrolling.join(120)
