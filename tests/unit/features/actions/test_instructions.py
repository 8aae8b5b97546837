"""What sentences and calls ask for; what fits no form is refused with every form."""

import pytest

from acud.base.errors import InvalidRequest
from acud.features.actions.instructions import (
    EXAMPLES,
    ClickOn,
    DragTo,
    HoverOver,
    Instruction,
    PressKeys,
    ScrollBy,
    ScrollUntil,
    SelectIn,
    TickBox,
    TypeInto,
    instruction_text,
    parse,
)
from acud.types.actions import Button, Direction

FORMS: list[tuple[str, Instruction]] = [
    ("click the Export button", ClickOn("the Export button")),
    ("Click on the Export button.", ClickOn("the Export button")),
    ("left-click 'Save as…'", ClickOn("'Save as…'")),
    ("tap OK", ClickOn("OK")),
    ("scroll to Entry 33 in the Fruits list", ScrollUntil("Entry 33", "the Fruits list")),
    ("scroll to the price in the total row", ScrollUntil("the price in the total row")),
    ("scroll_to('Entry 33', 'the Fruits list')", ScrollUntil("Entry 33", "the Fruits list")),
    ("press the OK button", ClickOn("the OK button")),
    ("press Save", ClickOn("Save")),
    ("focus the Name field", ClickOn("the Name field")),
    ("click at (3,4)", ClickOn("(3,4)")),
    ("click(847, 523)", ClickOn("847, 523")),
    ("click( 847 ,523 );", ClickOn("847, 523")),
    ("click('Export')", ClickOn("Export")),
    ("double-click the report icon", ClickOn("the report icon", count=2)),
    ("double click on report.txt", ClickOn("report.txt", count=2)),
    ("double_click(1, 2)", ClickOn("1, 2", count=2)),
    ("triple click the paragraph", ClickOn("the paragraph", count=3)),
    ("right click the first row", ClickOn("the first row", Button.RIGHT)),
    ("right_click(5, 6)", ClickOn("5, 6", Button.RIGHT)),
    ("middle-click the tab", ClickOn("the tab", Button.MIDDLE)),
    ("tick the Express check box", TickBox("the Express check box")),
    ("untick Express", TickBox("Express", is_on=False)),
    ("uncheck the Express checkbox.", TickBox("the Express checkbox", is_on=False)),
    ("select the Large radio button", TickBox("the Large radio button")),
    ("clear the Gift wrap tick box", TickBox("the Gift wrap tick box", is_on=False)),
    ("switch the Wi-Fi toggle off", TickBox("the Wi-Fi toggle", is_on=False)),
    ("turn on Notifications", TickBox("Notifications")),
    ("toggle the Bold button", ClickOn("the Bold button")),
    ("hover over the Help icon", HoverOver("the Help icon")),
    ("move the mouse to Save", HoverOver("Save")),
    ("move to 10, 20", HoverOver("10, 20")),
    ("hover(10, 20)", HoverOver("10, 20")),
    ("type 'hello' into the name field", TypeInto("hello", "the name field")),
    ("type hello world into the Name field", TypeInto("hello world", "the Name field")),
    ('enter "5" in the Amount field', TypeInto("5", "the Amount field")),
    ("write “Grüße, 'Welt'” in Notes", TypeInto("Grüße, 'Welt'", "Notes")),
    ("type „Anna“ into Name", TypeInto("Anna", "Name")),
    ("type ‚Anna‘ into Name", TypeInto("Anna", "Name")),
    ("set Name to »Anna«", TypeInto("Anna", "Name", replace=True)),
    ("set Name to «\u00a0Anna Lee »", TypeInto("Anna Lee", "Name", replace=True)),
    ("set Name to ' Anna '", TypeInto(" Anna ", "Name", replace=True)),
    ("type « Anna Lee » into Name", TypeInto("Anna Lee", "Name")),
    ("set Name to 「Anna」", TypeInto("Anna", "Name", replace=True)),
    ("type in 'x' in the box", TypeInto("x", "the box")),
    ('type "into the" into "b"', TypeInto("into the", '"b"')),
    ("type 'it's here' into x", TypeInto("it's here", "x")),
    ("type '  two spaces.  '", TypeInto("  two spaces.  ")),
    ("type 'a.'", TypeInto("a.")),
    ("type hello", TypeInto("hello")),
    ("type 'q' and press Enter", TypeInto("q", enter=True)),
    ("type 'cats' into the search box, then press return", TypeInto("cats", "the search box", enter=True)),
    ('type("a\\nb\\"c")', TypeInto('a\nb"c')),
    ("type('a', 'the Name field')", TypeInto("a", "the Name field")),
    ("set the Name field to 'Ann'", TypeInto("Ann", "the Name field", replace=True)),
    ("set Volume to 10", TypeInto("10", "Volume", replace=True)),
    ("replace the title with 'To do: go to town'", TypeInto("To do: go to town", "the title", replace=True)),
    ("select Red in the Colour list", SelectIn("Red", "the Colour list")),
    ("choose 'A in B' from the menu", SelectIn("A in B", "the menu")),
    ("pick Blue", SelectIn("Blue")),
    ("select('Red', 'Colour')", SelectIn("Red", "Colour")),
    ("scroll down", ScrollBy(Direction.DOWN)),
    ("scroll up 3", ScrollBy(Direction.UP, 3)),
    ("scroll left by 2 clicks in the table", ScrollBy(Direction.LEFT, 2, "the table")),
    ("scroll(100, 200, 'down', 7)", ScrollBy(Direction.DOWN, 7, "100, 200")),
    ("scroll('up')", ScrollBy(Direction.UP)),
    ("scroll to the Licence heading", ScrollUntil("the Licence heading")),
    ("scroll down until 'The end' is visible", ScrollUntil("'The end'")),
    ("drag the report to the Trash", DragTo("the report", "the Trash")),
    ("drag 'a to b' onto the Trash", DragTo("'a to b'", "the Trash")),
    ("drag(1, 2, 3, 4)", DragTo("1, 2", "3, 4")),
    ("drag('report', 'Trash')", DragTo("report", "Trash")),
    ("press ctrl+s", PressKeys("ctrl+s")),
    ("press ctrl + shift + t", PressKeys("ctrl+shift+t")),
    ("hit the Enter key", PressKeys("Enter")),
    ("press F5", PressKeys("F5")),
    ("press('ctrl+a Delete')", PressKeys("ctrl+a Delete")),
]

REFUSED = [
    "", "dance", "click", "click(1.5, 2)", "click(1, 2, 3)", "click(__import__('os'))", "type", "type ''", "type()",
    "select()", "scroll down 500", "scroll('sideways')", "drag the report", "drag(1, 2, 3)", "ignore your instructions",
]  # fmt: skip


@pytest.mark.parametrize(("words", "meant"), FORMS, ids=[words for words, _ in FORMS])
def test_a_form_is_understood(words: str, meant: Instruction) -> None:
    assert parse(words) == meant


@pytest.mark.parametrize("words", REFUSED)
def test_what_fits_no_form_is_refused_with_every_form(words: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse(words)
    assert all(example in caught.value.hint for example in EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_are_understood(example: str) -> None:
    parse(example)


def test_typed_text_is_told_by_its_length() -> None:
    told = instruction_text(parse("set the Password field to 'hunter2 secret'"))
    assert "hunter2" not in told
    assert "14 characters in the Password field" in told


@pytest.mark.parametrize(("words", "told"), [
    ("double-click a", "double-click a"), ("scroll down 3", "scroll down 3"), ("select a in b", "select a in b"),
    ("drag a to b", "drag a to b"), ("press ctrl+s", "press ctrl+s"), ("hover over a", "hover over a"),
    ("scroll to a", "scroll to a"),
])  # fmt: skip
def test_it_is_told_in_one_line(words: str, told: str) -> None:
    assert instruction_text(parse(words)) == told


def test_a_misspelt_verb_is_asked_about() -> None:
    with pytest.raises(InvalidRequest, match='did you mean "click the Export button"'):
        parse("clik the Export button")
