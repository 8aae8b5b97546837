"""The worked example of docs/waiting-example.md, which the site makes, is what the machine does."""

from acud.waits.example import rows


def test_it_has_six_frames_and_ends_with_the_picture_of_the_last() -> None:
    found = list(rows())
    assert [row.happened[:11] for row in found if row.happened.startswith("**")] == [
        f"**frame {n}**" for n in range(1, 7)
    ]
    assert found[-1].after.startswith("resolved, yes")
    assert found[-1].asked == "a record: yes; its end, with the picture of frame 6"


def test_a_job_leaves_only_when_the_wait_asked_for_it() -> None:
    asked = [row.asked for row in rows()]
    jobs = sum("a judge job" in words for words in asked)
    assert jobs == sum(row.happened.endswith("leaves for an evaluator") for row in rows()) == 4
    assert all("under way" in row.after for row in rows() if row.happened.endswith("leaves for an evaluator"))
