"""Work beside the event loop: bounded, batched, and only while somebody waits for it."""

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence

import pytest

from lrlm.errors import InputError
from lrlm.serving.work import Batcher, GivenUpError, Order, OverloadedError, Workshop


def test_a_job_is_done_in_a_thread_and_may_fail() -> None:
    async def story() -> None:
        shop = Workshop("test", threads=1, most_waiting=1)
        assert await shop.do(lambda _: threading.current_thread().name.startswith("lrlm test"))
        with pytest.raises(InputError, match="bad"):
            await shop.do(fail)
        assert shop.taken == 0
        shop.close()

    def fail(_: Order) -> None:
        raise InputError("bad")

    asyncio.run(story())


def test_a_cancelled_job_is_told_to_stop_and_one_that_waits_is_not_begun() -> None:
    begun, ended = threading.Event(), threading.Event()

    def endless(order: Order) -> None:
        begun.set()
        try:
            while True:
                order.check()
        except GivenUpError:
            ended.set()
            raise

    async def story() -> None:
        shop = Workshop("test", threads=1, most_waiting=1)
        first = asyncio.create_task(shop.do(endless))
        await asyncio.to_thread(begun.wait, 10)
        second = asyncio.create_task(shop.do(lambda _: pytest.fail("it was begun")))
        await asyncio.sleep(0)
        with pytest.raises(OverloadedError):
            await shop.do(lambda _: None)
        second.cancel()
        first.cancel()
        assert await asyncio.to_thread(ended.wait, 10)
        assert await shop.do(lambda _: "again") == "again"
        shop.close()

    asyncio.run(story())


def test_a_stream_gives_pieces_then_an_error_and_stops_when_closed() -> None:
    made: list[int] = []
    ended = threading.Event()

    def some(_: Order) -> Iterator[int]:
        yield from (1, 2)
        raise InputError("no more")

    def endless(_: Order) -> Iterator[int]:
        try:
            while True:
                made.append(1)
                yield 1
        finally:
            ended.set()

    async def story() -> None:
        shop = Workshop("test", threads=1, most_waiting=1)
        pieces = shop.stream(some)
        assert [await anext(pieces), await anext(pieces)] == [1, 2]
        with pytest.raises(InputError, match="no more"):
            await anext(pieces)
        async for _ in shop.stream(endless):
            break
        assert await asyncio.to_thread(ended.wait, 10)
        assert shop.taken == 0
        shop.close()

    asyncio.run(story())


def test_what_arrives_together_is_made_together_and_errors_stay_with_their_own() -> None:
    sizes: list[int] = []

    def make(given: Sequence[int]) -> list[str | Exception]:
        sizes.append(len(given))
        return [InputError("three") if number == 3 else str(number) for number in given]

    async def story() -> list[str | BaseException]:
        batcher = Batcher(make, name="test", most_waiting=20, together=8)
        results = await asyncio.gather(*map(batcher.do, range(12)), return_exceptions=True)
        assert batcher.taken == 0
        batcher.close()
        return results

    results = asyncio.run(story())
    assert isinstance(results.pop(3), InputError)
    assert results == [str(number) for number in range(12) if number != 3]
    assert sizes == [8, 4]


def test_clients_that_take_turns_come_together() -> None:
    sizes: list[int] = []

    def make(given: Sequence[int]) -> list[int | Exception]:
        sizes.append(len(given))
        time.sleep(0.05)
        return list(given)

    async def story() -> None:
        batcher = Batcher(make, name="test", most_waiting=20, together=8)

        async def client(delay: float) -> None:
            await asyncio.sleep(delay)
            for number in range(4):
                await batcher.do(number)

        early, late = [client(0) for _ in range(4)], [client(0.02) for _ in range(4)]
        await asyncio.gather(*early, *late)
        batcher.close()

    asyncio.run(story())
    assert sizes[0] == 4
    assert sizes.count(8) >= 2  # and not halves that answer and wait in turn


def test_clients_that_need_a_moment_to_ask_again_come_together() -> None:
    sizes: list[int] = []

    def make(given: Sequence[int]) -> list[int | Exception]:
        sizes.append(len(given))
        time.sleep(0.2)
        return list(given)

    async def story() -> None:
        batcher = Batcher(make, name="test", most_waiting=20, together=8)

        async def client(number: int) -> None:
            for _ in range(3):
                await batcher.do(number)
                await asyncio.sleep(0.04 + 0.005 * number)  # a while in which nobody comes

        await asyncio.gather(*map(client, range(4)))
        batcher.close()

    asyncio.run(story())
    assert sizes == [4, 4, 4]


def test_a_single_client_never_waits_for_others() -> None:
    async def story() -> float:
        batcher = Batcher(slow, name="test", most_waiting=20, together=8)
        begin = time.perf_counter()
        for number in range(5):
            await batcher.do(number)
        batcher.close()
        return time.perf_counter() - begin

    def slow(given: Sequence[int]) -> list[int | Exception]:
        time.sleep(0.1)
        return list(given)

    assert asyncio.run(story()) < 0.7


def test_a_failing_batch_fails_all_of_it_and_nothing_later() -> None:
    def make(given: Sequence[int]) -> list[int | Exception]:
        if 0 in given:
            raise RuntimeError("broken")
        return list(given)

    async def story() -> None:
        batcher = Batcher(make, name="test", most_waiting=20, together=8)
        results = await asyncio.gather(batcher.do(0), batcher.do(1), return_exceptions=True)
        assert all(isinstance(each, RuntimeError) for each in results)
        assert await batcher.do(2) == 2
        batcher.close()

    asyncio.run(story())


def test_a_batcher_refuses_what_is_too_much_and_forgets_who_left() -> None:
    begun, go_on = threading.Event(), threading.Event()
    seen: list[int] = []

    def make(given: Sequence[int]) -> list[int | Exception]:
        begun.set()
        go_on.wait(10)
        seen.extend(given)
        return list(given)

    async def story() -> None:
        batcher = Batcher(make, name="test", most_waiting=2, together=8)
        first = asyncio.create_task(batcher.do(0))
        await asyncio.to_thread(begun.wait, 10)
        others = [asyncio.create_task(batcher.do(number)) for number in (1, 2)]
        await asyncio.sleep(0)
        with pytest.raises(OverloadedError):
            await batcher.do(3)
        others[0].cancel()
        await asyncio.sleep(0)
        go_on.set()
        assert [await first, await others[1]] == [0, 2]
        assert seen == [0, 2]
        batcher.close()

    asyncio.run(story())
