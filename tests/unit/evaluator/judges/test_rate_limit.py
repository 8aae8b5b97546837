"""Who makes the next call where a minute's do not suffice, on a clock that a test turns by hand."""

import asyncio
import heapq

import pytest

from acud.evaluator.judges.rate_limit import Claim, RateLimitQueue, TurnRefused, bucket_of


class Hand:
    """A clock that a test advances; who sleeps is woken in the order of times."""

    def __init__(self) -> None:
        self.at = 0.0
        self._sleeping: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        future = asyncio.get_running_loop().create_future()
        self._count += 1
        heapq.heappush(self._sleeping, (self.at + seconds, self._count, future))
        await future

    async def advance(self, seconds: float) -> None:
        end = self.at + seconds
        await settle()
        while self._sleeping and self._sleeping[0][0] <= end:
            self.at, _, future = heapq.heappop(self._sleeping)
            if not future.done():
                future.set_result(None)
            await settle()
        self.at = end


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Scene:
    """A line of a backend with `per_minute` calls, and who had a turn, in order."""

    def __init__(self, per_minute: float, patience_s: float = 10.0) -> None:
        self.clock = Hand()
        self.turns = RateLimitQueue(bucket_of(per_minute, 0.0), self.clock, patience_s)
        self.had: list[str] = []
        self.refused: dict[str, TurnRefused] = {}

    async def ask(self, claim: Claim, within_s: float = 1000.0) -> bool:
        try:
            await self.turns.wait_for_turn(claim, self.clock.now() + within_s)
        except TurnRefused as fault:
            self.refused[claim.who] = fault
            return False
        self.had.append(claim.who)
        return True

    async def stand(self, *claims: Claim) -> list[asyncio.Task[bool]]:
        tasks = []
        for claim in claims:
            tasks.append(asyncio.create_task(self.ask(claim)))
            await settle()
        return tasks


@pytest.mark.asyncio
async def test_the_nearest_deadline_goes_first_and_priority_before_that() -> None:
    scene = Scene(60)  # a burst of seven, then one every 60/53 s
    for number in range(7):
        await scene.ask(Claim(f"burst{number}", "d"))
    tasks = await scene.stand(
        Claim("late", "d", 2, 300), Claim("forced", "d", 3, 5), Claim("soon", "d", 2, 20), Claim("person", "d", 1)
    )
    await scene.clock.advance(10)
    assert scene.had[7:] == ["person", "soon", "late", "forced"]
    assert all(task.result() for task in tasks)


@pytest.mark.asyncio
async def test_a_display_that_had_much_gives_way_to_one_that_had_little() -> None:
    scene = Scene(60)
    for number in range(7):
        await scene.ask(Claim(f"busy{number}", ":1"))
    await scene.stand(Claim("busy", ":1", 2, 5), Claim("quiet", ":2", 2, 500))
    await scene.clock.advance(5)
    assert scene.had[7:] == ["quiet", "busy"]


@pytest.mark.asyncio
async def test_who_is_too_far_back_is_told_when_to_come_and_finds_the_place_held() -> None:
    scene = Scene(2)  # one at once, then one a minute
    assert await scene.ask(Claim("first", ":1"))
    assert not await scene.ask(Claim("second", ":2"))
    told = scene.refused["second"]
    assert (told.after_s, str(told)) == (60.0, "0 go first, next in about 60 s")
    await scene.clock.advance(60)
    assert not await scene.ask(Claim("chatter", ":3", 1, 1))  # the turn is there, and it is held for who was told
    assert scene.refused["chatter"].after_s == 60.0
    await scene.clock.advance(1)
    assert await scene.ask(Claim("second", ":2"))


@pytest.mark.asyncio
async def test_a_place_that_nobody_comes_for_is_given_away() -> None:
    scene = Scene(2)
    await scene.ask(Claim("first", ":1"))
    await scene.ask(Claim("gone", ":2"))
    await scene.clock.advance(66)
    assert await scene.ask(Claim("other", ":3"))


@pytest.mark.asyncio
async def test_a_newcomer_with_more_right_sends_the_last_in_line_away_with_a_word() -> None:
    scene = Scene(12)  # two at once, then one every 6 s
    await scene.ask(Claim("a", ":1"))
    await scene.ask(Claim("b", ":1"))
    waiting, newcomer = await scene.stand(Claim("waiting", ":2", 3, 100), Claim("newcomer", ":3", 2, 10))
    assert await waiting is False
    assert "1 go first" in str(scene.refused["waiting"])
    await scene.clock.advance(6)
    assert await newcomer


@pytest.mark.asyncio
async def test_who_stood_in_line_and_left_takes_no_turn() -> None:
    scene = Scene(12)
    await scene.ask(Claim("a"))
    await scene.ask(Claim("b"))
    (left,) = await scene.stand(Claim("left"))
    left.cancel()
    await scene.clock.advance(6)
    assert await scene.ask(Claim("next"))


@pytest.mark.asyncio
@pytest.mark.parametrize("waits", [5, 20])
async def test_nobody_starves_behind_displays_that_ask_all_the_time(waits: int) -> None:
    """Chatterers ask every second with near deadlines; the quiet one has a far one and comes only when it was told."""
    scene, back = Scene(6), {f"w{number}": 0.0 for number in range(waits)}
    back["quiet"] = 0.5
    under_way: dict[str, asyncio.Task[bool]] = {}
    for _ in range(600):
        for who, at in back.items():
            before = under_way.get(who)
            if scene.clock.at < at or (before is not None and not before.done()):
                continue
            claim = Claim(who, who, 2, 900 if who == "quiet" else 5)
            task = under_way[who] = asyncio.create_task(scene.ask(claim))
            await settle()
            if who == "quiet" and task.done() and not task.result():
                back[who] = scene.clock.at + min(60, scene.refused[who].after_s)
        await scene.clock.advance(1)
    for task in under_way.values():
        task.cancel()
    fair = len(scene.had) / (waits + 1)
    assert scene.had.count("quiet") >= 0.4 * fair
    assert len(scene.had) >= 0.8 * 5 * 10  # a burst of one, then five a minute
