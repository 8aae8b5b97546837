"""What is written without the fields that have their defaults reads as what it was, and is smaller."""

import msgspec
import pytest

from acud.base.errors import InvalidRequest
from acud.protocol import codec
from acud.protocol.fleet import ObjectPlace
from acud.types import AllOf, Change, DisplayInfo, NotOf, Text, Then, WaitInfo, WindowTitle
from acud.types.tasks import TaskView
from tests.fuzz.samples import sample
from tests.integration.client_replies import wait_info


@pytest.mark.parametrize("kind", [WaitInfo, DisplayInfo, TaskView, ObjectPlace])
def test_a_lean_message_reads_as_what_it_was(kind: type[msgspec.Struct]) -> None:
    full = msgspec.convert(sample(kind), kind)
    assert codec.decode(codec.encode_lean(full), kind) == full
    for field in msgspec.structs.fields(kind):
        if not field.required:
            default = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
            usual = msgspec.structs.replace(full, **{field.name: default})
            lean = codec.encode_lean(usual)
            assert field.encode_name not in codec.unpack(lean)
            assert codec.decode(lean, kind) == usual


def test_each_condition_keeps_what_it_is() -> None:
    until = Then((AllOf((Text("done"), NotOf(WindowTitle("Save")))), Change()))
    wait = wait_info()
    wait = msgspec.structs.replace(wait, spec=msgspec.structs.replace(wait.spec, until=until))
    lean = codec.encode_lean(wait)
    assert codec.decode(lean, WaitInfo) == wait
    assert len(lean) < len(codec.encode(wait)) / 2


def test_a_number_that_is_too_large_is_refused_there_too() -> None:
    with pytest.raises(InvalidRequest, match="beyond 64 bits"):
        codec.encode_lean(msgspec.structs.replace(wait_info(), judged=1 << 70))


def test_a_text_that_is_no_unicode_is_refused_by_both() -> None:
    for encode in (codec.encode, codec.encode_lean):
        with pytest.raises(InvalidRequest, match=r"the text 'a.*udcff' is no Unicode: character 2"):
            encode(msgspec.structs.replace(wait_info(), message="a\udcff"))
