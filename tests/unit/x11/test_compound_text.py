"""Titles as Xt programs write them."""

import pytest

from acud.x11.compound_text import decode_compound_text


@pytest.mark.parametrize(("data", "text"), [
    (b"plain", "plain"), (b"Gr\xf6\xdfe", "Größe"), (b"\x1b-L\xc7\xde\xe2 ok", "Чот ok"),
    (b"\x1b-F\xe1\x1b-A\xe1", "αá"), (b"\x1b%G\xe5\xae\x8c\xe6\x88\x90\x1b%@ x", "完成 x"),
    (b"\x1b$)A\xcd\xea\xb3\xc9", "完成"), (b"\x1b$(B%H\x1b(B a", "ト a"),
    (b"\x1b%/1\x80\x8biso8859-5\x02\xc7", "Ч"), (b"\x1b-L\xc7\x1b$)", "Ч\x1b$)"),
])  # fmt: skip
def test_each_set_is_decoded(data: bytes, text: str) -> None:
    assert decode_compound_text(data) == text
