"""Element ids as handles on a real GTK form: clicked by id, followed when it moves, refused when gone or covered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from acud.base.errors import DisplayDown, InvalidRequest, NotFound
from acud.protocol.requests.looks import Picture
from acud.protocol.requests.scenes import SceneReply
from acud.types import DisplayInfo
from acud.types.actions import Click, Key, Move, Point, TypeText, WindowDo, WindowList, WindowVerb
from acud.types.scene import AxElement, OcrElement, Scene, SceneMode
from acud_client import Client
from tests.e2e.cli_support import acud
from tests.e2e.desktop import until
from tests.e2e.gui_support import says, shown
from tests.fixtures.daemon import Daemon
from tests.fixtures.png_frames import frame_of_png, png_size

pytestmark = pytest.mark.long


@pytest.fixture
def client(gui_daemon: Daemon) -> Client:
    """Its client."""
    return gui_daemon.client


@pytest.fixture
def form(client: Client) -> Iterator[DisplayInfo]:
    """A display with a form."""
    with shown(client, "form") as display:
        yield display


def scene(client: Client, display: DisplayInfo) -> Scene:
    """Return the display's scene of now."""
    return client.refresh_scene(SceneMode.AGENT_TURN, (display.name,))


def widget(found: Scene, label: str) -> AxElement:
    """Return the widget with that label that can be acted on."""
    return next(one for one in found.ax if one.label == label and one.actions)


def text(found: Scene, words: str) -> OcrElement:
    """Return the line of text that holds these words."""
    return next(one for one in found.ocr if words in one.text)


def test_a_widget_and_a_text_are_clicked_by_their_ids_and_the_display_follows(
    client: Client, form: DisplayInfo, gui_daemon: Daemon
) -> None:
    export = widget(scene(client, form), "Export")
    assert export.id.startswith(f"a{form.number}-")
    done = client.gui_do(f"click {export.id}", timeout_s=60)
    assert (done.status, done.display) == ("verified", form.name)
    assert done.found is not None
    assert done.found.candidates[0].method == "scene"
    says(client, form, "Exported 3 files")
    found = client.gui_find(f"element {export.id}")
    assert (found.display, found.found.status) == (form.name, "found")
    assert found.found.candidates[0].label == "Export"

    idle = text(scene(client, form), "Idle")
    reply = client.desktop_action([Click(idle.id)])
    assert reply.display == form.name
    assert reply.cursor is not None
    assert idle.bbox.x <= reply.cursor.x < idle.bbox.right
    assert acud(gui_daemon, "do", "move", export.id).returncode == 0
    assert acud(gui_daemon, "do", "click", export.id, "--json").returncode == 0


def test_text_goes_into_an_entry_by_its_id_after_an_action_before_it(client: Client, form: DisplayInfo) -> None:
    entry = next(one for one in scene(client, form).ax if "editable" in one.states)
    client.desktop_action([Click(entry.id), TypeText("Ann"), Move(entry.id), Key("Tab")])
    says(client, form, "Name is Ann")


def test_an_element_that_moved_with_its_window_is_clicked_where_it_is(client: Client, form: DisplayInfo) -> None:
    before = widget(scene(client, form), "Export")
    client.desktop_action([WindowDo("Controls", WindowVerb.MOVE, Point(200, 120))], display=form.name)
    until(lambda: _origin(client, form) == (200, 120), "the window manager's move")
    reply = client.desktop_action([Click(before.id)])
    says(client, form, "Exported 3 files")
    now = widget(scene(client, form), "Export")
    assert now.id == before.id
    assert now.bbox != before.bbox
    assert reply.cursor is not None
    assert now.bbox.x <= reply.cursor.x < now.bbox.right


def test_ids_stand_over_the_end_of_the_supervisor(client: Client, form: DisplayInfo, gui_daemon: Daemon) -> None:
    before = scene(client, form)
    gui_daemon.kill()
    gui_daemon.start()
    client.gui_do(f"click {widget(before, 'Export').id}", timeout_s=30)
    says(client, form, "Exported 3 files")
    after = scene(client, form)
    assert [one.id for one in after.ax] == [one.id for one in before.ax]
    assert text(after, "Name").id == text(before, "Name").id


def test_an_id_that_is_gone_names_what_reads_alike_and_nothing_is_done(client: Client, form: DisplayInfo) -> None:
    export = widget(scene(client, form), "Export")
    client.desktop_action([WindowDo("Controls", WindowVerb.CLOSE)], display=form.name)
    until(lambda: not client.desktop_action([Key("Shift_L")], display=form.name).windows, "the end of the window")
    until(lambda: not any(one.label == "Export" for one in scene(client, form).ax), "the end of its widgets")
    with pytest.raises(NotFound, match=rf"{export.id} is not on its display any more \(it was 'Export'"):
        client.gui_do(f"click {export.id}")
    with pytest.raises(NotFound, match=r"a\d+-999999 names nothing that is there"):
        client.desktop_action([Click(f"a{form.number}-999999")])
    with pytest.raises(NotFound, match="which is not watched"):
        client.desktop_action([Click("t999-1")])


def _origin(client: Client, display: DisplayInfo) -> tuple[int, int]:
    (window,) = client.desktop_action([WindowList("Controls")], display=display.name).windows
    return window.bounds.x, window.bounds.y


def test_ids_of_other_displays_are_refused_before_anything_is_done(client: Client, form: DisplayInfo) -> None:
    export = widget(scene(client, form), "Export")
    other = client.display_create(320, 240).display
    try:
        with pytest.raises(InvalidRequest, match=f"{export.id} is not of {other.name}"):
            client.desktop_action([Click(export.id)], display=other.name)
        with pytest.raises(InvalidRequest, match="several displays"):
            client.desktop_action([Click(export.id), Click(f"t{other.number}-1")])
    finally:
        client.display_remove(other.name, force=True)


def test_a_picture_with_marks_shows_the_scenes_frame_and_leaves_the_elements_readable(
    client: Client, form: DisplayInfo, gui_daemon: Daemon, tmp_path: Path
) -> None:
    reply, look = until(lambda: _of_one_frame(client, form), "marks and a look of one frame")
    found, pixels = reply.scene, frame_of_png(reply.marks)
    assert found is not None
    assert pixels is not None
    assert pixels.shape[:2] == (480, 640)
    assert (reply.marks_frame, reply.marks_left_out) == (found.displays[0].frame, 0)
    plain = frame_of_png(look.image)
    assert plain is not None
    export = widget(found, "Export").bbox
    inside = (slice(export.y, export.bottom), slice(export.x, export.right))
    assert (pixels[inside] == plain[inside]).all()
    drawn = (pixels != plain).any(axis=2)
    assert drawn[export.y - 1, export.x : export.right].all()  # the box, just outside it

    small = frame_of_png(client.scene(None, (form.name,), marks=True, max_side_px=320).marks)
    assert small is not None
    assert small.shape[:2] == (240, 320)
    output = tmp_path / "marks.png"
    assert acud(gui_daemon, "scene", "--display", form.name, "--marks", str(output)).returncode == 0
    assert png_size(output.read_bytes()) == (640, 480)


def _of_one_frame(client: Client, form: DisplayInfo) -> tuple[SceneReply, Picture] | None:
    """Return marks and the plain picture of the same frame: a window gets the focus, and a caret blinks, meanwhile."""
    reply = client.scene(SceneMode.AGENT_TURN, (form.name,), marks=True, within_s=45.0)
    look = client.look(display=form.name)
    return (reply, look) if look.frame == reply.marks_frame else None


def test_marks_of_a_display_that_nobody_looked_at_are_refused(client: Client) -> None:
    fresh = client.display_create(320, 240).display
    try:
        with pytest.raises(DisplayDown, match="nobody has looked at it yet"):
            client.scene(None, (fresh.name,), marks=True)
    finally:
        client.display_remove(fresh.name, force=True)
