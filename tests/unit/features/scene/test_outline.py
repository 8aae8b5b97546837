"""What a window's widgets and texts become: what a person would name, each once, with its label, value and states."""

from typing import Any

from acud.features.scene.prompt import prompt_text
from acud.types import Rect
from acud.types.scene import AxElement, OcrElement, SceneApp, SceneWindow
from tests.unit.features.scene.scenes import scene, text

WINDOW = "0x60000a"
ON = ("enabled", "sensitive", "showing", "visible")


class Tree:
    """Widgets of one window, as a toolkit tells them. Each `add` returns the id, for what is in it."""

    def __init__(self) -> None:
        self.widgets: list[AxElement] = []

    def add(self, role: str, label: str = "", around: str = "", box: tuple[int, ...] = (), **given: Any) -> str:
        """Add a widget; `states` are added to those of one that is in order."""
        number = len(self.widgets) + 1
        states = given.pop("only", (*ON, *given.pop("states", ())))
        place = Rect(*box) if box else Rect(10, 30 * number, 100, 20)
        self.widgets.append(AxElement(f"a1-{number}", role, place, 1, label, states=states, parent=around, **given))
        return f"a1-{number}"


def describe(tree: Tree, *texts: OcrElement) -> list[str]:
    window = SceneWindow(WINDOW, "report", Rect(0, 0, 1280, 720), 1)
    found = scene(ax=tuple(tree.widgets), ocr=texts, apps=(SceneApp("editor", 812, (window,)),))
    return prompt_text(found).text.splitlines()[3:]


def test_a_form_of_a_page() -> None:
    tree = Tree()
    frame = tree.add("frame", "report", box=(0, 0, 1280, 720))
    panel = tree.add("panel", "", frame, (0, 0, 1280, 720))
    tree.add("push button", "Reload", panel)
    page = tree.add("document web", "report", panel, (0, 40, 1280, 680), states=("focusable", "focused"))
    heading = tree.add("heading", "Your order", page)
    tree.add("static", "Your order", heading)
    paragraph = tree.add("paragraph", "", page)
    tree.add("static", "Please fill in", paragraph)
    tree.add("static", "all fields. See", paragraph)
    link = tree.add("link", "terms", paragraph, states=("focusable",))
    tree.add("static", "terms", link)
    tree.add("static", ".", paragraph)
    group = tree.add("panel", "Address", page)
    legend = tree.add("label", "", group)
    tree.add("static", "Address", legend)
    label = tree.add("label", "", group)
    tree.add("static", "Name *", label)
    tree.add("entry", "Name *", label, value="Ann Lee", states=("editable", "focusable", "required"))
    tree.add("static", "City", group, (10, 600, 40, 20))
    tree.add("entry", "", group, (60, 600, 100, 20), states=("editable", "focusable"))
    tree.add("password text", "Password", group, secure=True, states=("editable", "focusable"))
    country = tree.add("combo box", "Country", group, value="Italy", states=("expandable", "focusable"))
    tree.add("static", "", country)
    tree.add("check box", "Gift wrap", page, states=("checkable", "checked", "focusable"))
    tree.add("radio button", "Express", page, only=("showing", "visible", "checkable"))
    tree.add("toggle button", "More", page, states=("expandable", "focusable"))
    tree.add("entry", "Number", page, value="7", only=("focusable", "visible", "showing", "read_only"))
    tree.add("push button", "Order", page, offscreen=True, only=("enabled", "sensitive", "visible"))
    assert describe(tree) == [
        "a1-4 page",
        ' heading "Your order"',
        ' "Please fill in all fields. See"',
        ' a1-10 link "terms"',
        ' a1-13 group "Address"',
        '  a1-18 textbox "Name *" = "Ann Lee" required',
        '  a1-20 textbox "City"',
        '  a1-21 password "Password"',
        '  a1-22 combobox "Country" = "Italy"',
        ' a1-24 checkbox "Gift wrap" checked',
        ' a1-25 radio "Express" disabled',
        ' a1-26 button "More" collapsed',
        ' a1-27 textbox "Number" = "7" readonly',
        "(out of sight, scroll to it:)",
        ' a1-28 button "Order"',
        "(in sight:)",
        'a1-3 button "Reload"',
    ]


def test_rows_keep_their_words_together_with_what_can_be_done_in_them() -> None:
    tree = Tree()
    table = tree.add("table", "Items", tree.add("panel"))
    for name, price in (("Screws", "3.00"), ("Nails", "1.20")):
        row = tree.add("table row", "", table)
        tree.add("static", name, tree.add("table cell", name, row))
        tree.add("table cell", price, row)
        cell = tree.add("table cell", "Edit Delete", row)
        for action in ("Edit", "Delete"):
            tree.add("static", action, tree.add("push button", action, cell))
    item = tree.add("list item", "", tree.add("list"))
    tree.add("static", "•", item)
    tree.add("link", "Home", item)
    assert describe(tree) == [
        'a1-2 table "Items"',
        ' a1-3 row "Screws" | "3.00"',
        '  a1-8 button "Edit"',
        '  a1-10 button "Delete"',
        ' a1-12 row "Nails" | "1.20"',
        '  a1-17 button "Edit"',
        '  a1-19 button "Delete"',
        'a1-24 link "Home"',
    ]


def test_a_gtk_dialog_takes_the_labels_beside_its_fields() -> None:
    tree = Tree()
    panel = tree.add("panel")
    tree.add("label", "Host name:", panel, (10, 10, 80, 20))
    tree.add("text", "", panel, (100, 10, 100, 20), value="alpha", states=("editable", "focusable", "focused"))
    tree.add("label", "Protocol", panel, (10, 40, 80, 20))
    tree.add("combo box", "UDP", panel, (100, 40, 100, 20), value="UDP")
    tree.add("check box", "", panel, (10, 70, 20, 20), states=("focusable",))
    tree.add("label", "Use TLS", panel, (34, 70, 80, 20))
    tree.add("label", "Nothing beside it", panel, (10, 200, 80, 20))
    tree.add("push button", "", panel, (10, 300, 20, 20))
    assert describe(tree) == [
        'a1-3 textbox "Host name" = "alpha" focused',
        'a1-5 combobox "Protocol" = "UDP"',
        'a1-6 checkbox "Use TLS"',
        '"Nothing beside it"',
        "a1-9 button",
    ]


def test_a_text_of_the_screen_that_a_widget_tells_is_left_out_and_any_other_stays() -> None:
    tree = Tree()
    panel = tree.add("panel")
    tree.add("push button", "Close dialog", panel, (10, 10, 20, 20))
    tree.add("check box", "Gift wrap", panel, (10, 40, 14, 14))
    tree.add("static", "A long line", panel, (10, 70, 200, 20))
    tree.add("static", "Under it", panel, (10, 100, 300, 20), offscreen=True)
    texts = (
        OcrElement("t1-1", "XX", Rect(12, 12, 16, 16), 0.6, 1),
        OcrElement("t1-2", "Gift wrap", Rect(30, 38, 80, 18), 0.9, 1, (("Gift", Rect(30, 38, 36, 18)),)),
        OcrElement("t1-3", "A 1ong line", Rect(10, 70, 180, 18), 0.9, 1),
        OcrElement("t1-4", "Wrapped parcel", Rect(30, 44, 80, 18), 0.9, 1),
        OcrElement("t1-5", "in a picture", Rect(12, 101, 80, 18), 0.7, 1),
        OcrElement("t1-6", "↑", Rect(500, 101, 10, 10), 0.9, 1),
    )
    assert describe(tree, *texts) == [
        'a1-2 button "Close dialog"',
        'a1-3 checkbox "Gift wrap"',
        '"A long line"',
        "(out of sight, scroll to it:)",
        '"Under it"',
        "(in sight:)",
        't1-4 "Wrapped parcel"',
        't1-5 "in a picture" 0.70',
    ]


def test_widgets_and_texts_stand_under_the_window_that_shows_them() -> None:
    windows = (
        SceneWindow("0x1", "top", Rect(0, 0, 100, 100), 1, 0),
        SceneWindow("0x2", "under", Rect(0, 0, 400, 400), 1, 1, "covered"),
        SceneWindow("0x3", "far under", Rect(10, 10, 50, 50), 1, 2, "covered"),
        SceneWindow("0x4", "away", Rect(0, 0, 400, 400), 1, 3, "unmapped"),
        SceneWindow("0x5", "", Rect(0, 0, 5, 5), 1, 4, kind="popup"),
    )
    under = AxElement("a1-1", "push button", Rect(10, 10, 20, 20), 1, "Under", pid=7, window="0x2")
    apps = (SceneApp("a", 7, windows),)
    texts = (text(1), OcrElement("t1-2", "lower", Rect(200, 200, 50, 10), 0.9, 1), text(30, "on the desktop"))
    found = prompt_text(scene(apps=apps, ax=(under,), ocr=texts, focused_window=None)).text
    assert found.splitlines()[2:] == [
        'window 0x1 "top" "a" [0,0,100,100]',
        't1-1 "line 1"',
        'window 0x2 "under" "a" [0,0,400,400] partly covered by 0x1',
        'a1-1 button "Under"',
        't1-2 "lower"',
        'window 0x3 "far under" "a" [10,10,50,50] covered by 0x1',
        'window 0x4 "away" "a" [0,0,400,400] not shown',
        "in no window",
        't1-30 "on the desktop"',
    ]


def test_a_tree_that_is_made_to_hurt_is_told_in_time() -> None:
    tree = Tree()
    around = tree.add("frame", "report", box=(0, 0, 1280, 720))
    for _ in range(1500):
        around = tree.add("panel", "", around, (0, -100_000, 1 << 19, 1 << 19))
    tree.add("push button", "Deep", around, (10, 10, 20, 20))
    tree.add("entry", "", around, (10, -100_000, 20, 1 << 19), states=("focusable",))
    assert describe(tree) == ['a1-1502 button "Deep"', "a1-1503 textbox"]
