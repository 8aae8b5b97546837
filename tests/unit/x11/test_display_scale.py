"""What a display's settings and resources say of its scale, and settings that are no settings."""

import pytest

from acud.x11.display_scale import DPI, FACTOR, integers_of, scale_of
from tests.fixtures.xsettings import COLOUR, encoded


@pytest.mark.parametrize(("settings", "resources", "scale"), [
    ({}, "", 1.0), ({FACTOR: 2}, "", 2.0), ({FACTOR: 2, DPI: 192 * 1024}, "Xft.dpi: 96", 2.0),
    ({FACTOR: 2, DPI: 96 * 1024}, "", 2.0), ({FACTOR: 1, DPI: 144 * 1024}, "Xft.dpi: 96", 1.5),
    ({FACTOR: 1}, "Xft.dpi:\t168\n", 1.75), ({DPI: -1}, "Xft.dpi: 120", 1.25), ({DPI: 0, FACTOR: 0}, "", 1.0),
    ({FACTOR: 9999}, "", 1.0), ({}, "*color: red\nXft.antialias: 1\nXft.dpi: 101.5\nxterm*dpi: 300\n", 1.057),
    ({}, "Xft.dpi: 96\nXft.dpi: 192\n", 2.0), ({}, "! Xft.dpi: 192\nMyXft.dpi: 192\nXft.dpi: none\n", 1.0),
])  # fmt: skip
def test_the_whole_factor_goes_before_dots_per_inch_and_settings_before_resources(
    settings: dict[str, int], resources: str, scale: float
) -> None:
    assert scale_of(settings, resources) == scale


@pytest.mark.parametrize("order", ["<", ">"])
def test_settings_are_read_in_both_byte_orders_past_texts_and_colours(order: str) -> None:
    data = encoded({"Net/ThemeName": "Adwaita", FACTOR: 2, "Gtk/Tint": COLOUR, DPI: -1, "odd": "abcde"}, order)
    assert integers_of(data) == {FACTOR: 2, DPI: -1}


def test_malformed_settings_are_told_and_never_half_read() -> None:
    data = encoded({"Net/ThemeName": "Adwaita", DPI: 98304})
    for end in range(len(data)):
        with pytest.raises(ValueError, match="cut off"):
            integers_of(data[:end])
    with pytest.raises(ValueError, match="byte order 7"):
        integers_of(b"\7" + data[1:])
    with pytest.raises(ValueError, match="type 9"):
        integers_of(data[:12] + b"\11" + data[13:])
