"""How a display's frame differs from that of the scene before, as the scene tells it."""

from __future__ import annotations

from acud.types import DisplayInfo, Rect
from acud.types.scene import ChangeTiers, SceneMode
from acud_client import Client
from tests.e2e.desktop import Desk


def change(client: Client, view: DisplayInfo, mode: SceneMode = SceneMode.ACTIVE) -> ChangeTiers:
    """Return the tiers of a scene of now."""
    found = client.refresh_scene(mode, (view.name,)).displays[0].change
    assert found is not None
    return found


def test_tiers_of_nothing_a_dot_and_a_dialog(client: Client, view: DisplayInfo, desk: Desk) -> None:
    client.refresh_scene(SceneMode.ACTIVE, (view.name,))
    for mode in (SceneMode.ACTIVE, SceneMode.AGENT_TURN):
        same = change(client, view, mode)
        assert (same.tiles, same.dhash_distance, same.blocks, same.ssim) == (0, 0, 0, 1.0)

    desk.fill(Rect(101, 101, 8, 8), 0xFFFFFF)
    dot = change(client, view)
    assert (dot.tiles, dot.dhash_distance, dot.blocks) == (1, 0, 0)  # what the lossy ones miss, the tiles see
    assert dot.ssim is not None
    assert 0.99 < dot.ssim < 1

    desk.fill(Rect(200, 100, 300, 200), 0xE0E0E0)
    dialog = change(client, view)
    assert dialog.tiles == 20 * 13  # x 200 to 499 and y 100 to 299 touch tiles 12 to 31 and 6 to 18
    # On a flat ground even a dialog stays below the 5 bits: of its edges dHash sees only those that fall to the right.
    assert (dialog.dhash, dialog.dhash_distance) == ("0000010101000000", 3)
    assert dialog.blocks == 8 * 7
    assert change(client, view).tiles == 0
