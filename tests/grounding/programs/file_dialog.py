"""GTK's own dialog for files over a text window: `file_dialog.py TRUTH SPEC`. SPEC (JSON): `window`, `tools` (icon and
label), `text`, `title`, `buttons`, `filters`, `folder`, `at`, and, or not, `name` (then it saves) and `choice`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402

told, spec = Path(sys.argv[1]), json.loads(sys.argv[2])


def inside(widget: Gtk.Widget) -> list[Gtk.Widget]:
    """Return the visible widgets under `widget`, its own parts too."""
    found: list[Gtk.Widget] = []
    if isinstance(widget, Gtk.Container):
        widget.forall(lambda part: found.extend([part, *inside(part)]) if part.get_mapped() else None)
    return found


def box(widget: Gtk.Widget) -> list[int]:
    top = widget.get_toplevel()
    _, x0, y0 = top.get_window().get_origin()
    x, y = widget.translate_coordinates(top, 0, 0)
    return [x0 + x, y0 + y, widget.get_allocated_width(), widget.get_allocated_height()]


def name_of(widget: Gtk.Widget) -> str:
    """Return what a button or a row shows, or says when pointed at."""
    labels = [part.get_text() for part in inside(widget) if isinstance(part, Gtk.Label) and part.get_text()]
    return labels[0] if labels else widget.get_tooltip_text() or ""


def boxes() -> dict[str, list[int]]:
    parts = [*inside(dialog), *inside(editor)]
    made = {}
    for part in parts:
        kind = next((k for k, c in KINDS.items() if isinstance(part, c)), "")
        if kind and not isinstance(part.get_parent(), Gtk.ToolButton | Gtk.ComboBox):
            key, n = f"{kind}:{name_of(part)}", 2
            while key in made:
                key, n = f"{kind}:{name_of(part)}#{n}", n + 1
            made[key] = box(part)
        if isinstance(part, Gtk.TreeView):
            for row in range(len(part.get_model())):
                area = part.get_cell_area(Gtk.TreePath.new_from_indices([row]), part.get_column(0))
                _, x0, y0 = part.get_bin_window().get_origin()
                made[f"file:{row}"] = [x0 + area.x, y0 + area.y, area.width, area.height]
    return made


KINDS = {"entry": Gtk.Entry, "combo": Gtk.ComboBox, "row": Gtk.ListBoxRow, "tool": Gtk.ToolButton, "button": Gtk.Button}
editor = Gtk.Window(title=spec["window"])
editor.set_default_size(860, 640)
editor.move(40, 30)
bar = Gtk.Toolbar()
for icon, label in spec["tools"]:
    bar.insert(Gtk.ToolButton(icon_widget=Gtk.Image.new_from_icon_name(icon, 3), tooltip_text=label), -1)
page = Gtk.TextView(vexpand=True, cursor_visible=False)
page.get_buffer().set_text(spec["text"])
column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
for child in (bar, page):
    column.add(child)
editor.add(column)
editor.show_all()
action = Gtk.FileChooserAction.SAVE if "name" in spec else Gtk.FileChooserAction.OPEN
dialog = Gtk.FileChooserDialog(title=spec["title"], transient_for=editor, action=action)
for answer, label in enumerate(spec["buttons"]):
    dialog.add_button(label, answer)
for label in spec["filters"]:
    kind = Gtk.FileFilter()
    kind.set_name(label)
    kind.add_pattern("*")
    dialog.add_filter(kind)
dialog.set_current_folder(spec["folder"])
if "name" in spec:
    dialog.set_current_name(spec["name"])
if "choice" in spec:
    dialog.add_choice("choice", spec["choice"], None, None)
dialog.show()
dialog.move(*spec["at"])
dialog.resize(760, 460)
before: dict[str, object] = {"boxes": None, "same": 0}


def tell() -> bool:
    now = boxes()
    before["same"] = int(before["same"]) + 1 if now == before["boxes"] else 0
    before["boxes"] = now
    if before["same"] < 4 or "file:0" not in now:
        return True
    part = told.with_suffix(".part")
    part.write_text(json.dumps(now))
    part.replace(told)
    return False


GLib.timeout_add(200, tell)
Gtk.main()
