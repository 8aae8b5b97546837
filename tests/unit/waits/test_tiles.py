"""Tile arithmetic against pixels counted one by one."""

from hypothesis import given, settings
from hypothesis import strategies as st

from acud.types import Rect
from acud.waits.tiles import Grid, bits, from_bytes, masks, subtract, to_bytes

sizes = st.integers(1, 70)
grids = st.builds(Grid, sizes, sizes)
boxes = st.builds(Rect, st.integers(-5, 60), st.integers(-5, 60), st.integers(1, 40), st.integers(1, 40))


def pixels(box: Rect, grid: Grid) -> set[tuple[int, int]]:
    xs = range(max(0, box.x), min(grid.width, box.right))
    return {(x, y) for x in xs for y in range(max(0, box.y), min(grid.height, box.bottom))}


def tile_pixels(grid: Grid) -> list[set[tuple[int, int]]]:
    found: list[set[tuple[int, int]]] = [set() for _ in range(grid.columns * grid.rows)]
    for x in range(grid.width):
        for y in range(grid.height):
            found[y // 16 * grid.columns + x // 16].add((x, y))
    return found


@settings(max_examples=60, deadline=None)
@given(grids, boxes, st.lists(boxes, max_size=2), st.data())
def test_masks_and_areas_are_what_the_pixels_say(
    grid: Grid, crop: Rect, spots: list[Rect], data: st.DataObject
) -> None:
    inside = crop.intersect(Rect(0, 0, grid.width, grid.height))
    if inside is None:
        return
    ignored = set().union(*(pixels(spot.shift(inside.x, inside.y), grid) for spot in spots))
    target, tiles = pixels(inside, grid), tile_pixels(grid)
    found = masks(grid, inside, tuple(spots))
    touching = {i for i, tile in enumerate(tiles) if tile & target}
    whole = {i for i, tile in enumerate(tiles) if tile <= target and not tile & ignored}
    assert set(bits(found.whole)) == whole
    # A tile that only several ignored boxes together cover stays touching: it may then cost a look, never a miss.
    assert {i for i in touching if (tiles[i] & target) - ignored} <= set(bits(found.touching)) <= touching
    chosen = data.draw(st.sets(st.sampled_from(range(len(tiles)))))
    bitmap = sum(1 << i for i in chosen)
    covered = set().union(*(tiles[i] for i in chosen)) & target
    assert grid.area(bitmap, inside) == len(covered)
    box = grid.box(bitmap, inside)
    assert (box is None) == (not covered)
    if box is not None:
        assert covered <= pixels(box, grid)
        assert {box.x, box.right - 1} <= {x for x, _ in covered}


@given(st.integers(0, 2**80))
def test_bytes_and_back(tiles: int) -> None:
    assert from_bytes(to_bytes(tiles)) == tiles
    assert sum(1 << index for index in bits(tiles)) == tiles


def test_bit_order_is_the_notices() -> None:
    grid = Grid(1280, 720)
    assert (grid.columns, grid.rows) == (80, 45)
    assert from_bytes(b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01") == 1 << 80
    assert grid.tile(80) == Rect(0, 16, 16, 16)


@given(
    st.lists(
        st.builds(Rect, st.integers(-5, 30), st.integers(-5, 30), st.integers(1, 20), st.integers(1, 20)), max_size=4
    )
)
def test_what_is_left_of_a_box_is_every_pixel_once(holes: list[Rect]) -> None:
    box = Rect(7, 3, 25, 21)
    left = [
        (x, y) for part in subtract(box, holes) for x in range(part.x, part.right) for y in range(part.y, part.bottom)
    ]
    moved = [hole.shift(box.x, box.y) for hole in holes]
    every = [(x, y) for x in range(box.x, box.right) for y in range(box.y, box.bottom)]
    assert sorted(left) == [at for at in every if not any(hole.contains(Rect(*at, 1, 1)) for hole in moved)]


@settings(max_examples=80, deadline=None)
@given(grids, st.data())
def test_neighbours_and_spots_are_what_the_places_say(grid: Grid, data: st.DataObject) -> None:
    places = [(row, column) for row in range(grid.rows) for column in range(grid.columns)]
    chosen = data.draw(st.sets(st.sampled_from(places), min_size=1))
    tiles = _bitmap(grid, chosen)
    beside = {(row, column) for row, column in places for r, c in chosen if abs(row - r) <= 1 and abs(column - c) <= 1}
    assert grid.near(tiles) == _bitmap(grid, beside)
    found = list(grid.spots(tiles))
    assert sum(found) == tiles
    for spot in found:
        assert grid.near(spot) & tiles == spot, "no spot has a neighbour in another one"
        assert grid.find_connected(tiles, spot & -spot) == spot
    start = data.draw(st.sampled_from(places))
    led = grid.find_connected(tiles, _bitmap(grid, {start}))
    assert led == sum(spot for spot in found if grid.near(_bitmap(grid, {start})) & spot)


def _bitmap(grid: Grid, places: set[tuple[int, int]]) -> int:
    return sum(1 << (row * grid.columns + column) for row, column in places)
