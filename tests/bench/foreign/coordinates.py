"""Where a control is: toolkits at scales, and labels above fields that no program tells of."""

from __future__ import annotations

from tests.bench.foreign.case import Case
from tests.bench.foreign.names import form_case

_ROWS = ("entry:Recipient", "entry:City", "combo:Country=Austria|Belgium|Chile", "button:Remove", "button:Send")
_ACTS = ("type 'Anna' into the Recipient field", "type 'Bern' into City", "select Chile in the Country list",
         "click the Remove button")  # fmt: skip
_DONE = {"Recipient": "Anna", "City": "Bern", "Country": "Chile", "Remove": 1}
_TEXTS = ("type 'Anna' into the Recipient field", "type 'Bern' into City")
_TYPED = {"Recipient": "Anna", "City": "Bern"}

_PARTS = ("entry:Subject", "area:Notes", "entry:City", "area:Remarks=first\nsecond", "framed:Street", "button:Send")
_FILL = ("type 'call before noon' into the Notes field", "type ' and third' into the Remarks text area",
         "type 'Bern' into City", "type 'Main Street 7' into the Street field")  # fmt: skip
_FILLED = {"Notes": "call before noon", "Remarks": "first\nsecond and third", "City": "Bern", "Street": "Main Street 7"}

CASES = (
    Case("GTK 3 at 2", form_case("gtk3", "beside", _ROWS, _ACTS, _DONE, ("GDK_SCALE=2",))),
    Case("Qt 5 at 1.5", form_case("qt5", "above", _ROWS, _ACTS, _DONE, ("QT_SCALE_FACTOR=1.5",))),
    Case("Swing: labels above", form_case("swing", "above", _ROWS, _TEXTS, _TYPED)),
    Case("Tk: labels above", form_case("tk", "above", _ROWS, _TEXTS, _TYPED)),
    Case("Swing: text areas and titled frames", form_case("swing", "above", _PARTS, _FILL, _FILLED)),
    Case("Tk: text areas and titled frames", form_case("tk", "beside", _PARTS, _FILL, _FILLED)),
    Case("Qt 6 at 1.75", form_case("qt6", "beside", _ROWS, _ACTS, _DONE, ("QT_SCALE_FACTOR=1.75",)), held_out=True),
    Case("Swing at 2", form_case("swing", "above", _ROWS, _TEXTS, _TYPED, (
        "JAVA_TOOL_OPTIONS=-Dsun.java2d.uiScale=2",)), held_out=True),
    Case("Swing: Motif look", form_case("swing", "above", _ROWS, _TEXTS, _TYPED, (
        "JAVA_TOOL_OPTIONS=-Dswing.defaultlaf=com.sun.java.swing.plaf.motif.MotifLookAndFeel",)), held_out=True),
    Case("GTK 3 dark without widgets", form_case("gtk3-quiet", "above", _ROWS, _TEXTS, _TYPED, (
        "GTK_THEME=Adwaita:dark",)), held_out=True),
    Case("Qt 5 without widgets: text areas and titled frames", form_case("qt5-quiet", "above", _PARTS, (
        *_FILL[:3], "set the Remarks field to 'only this'"), {**_FILLED, "Street": "", "Remarks": "only this"}),
        held_out=True),
    Case("GTK 3 without widgets: text areas and titled frames", form_case(
        "gtk3-quiet", "beside", _PARTS, _FILL, _FILLED), held_out=True),
)  # fmt: skip
