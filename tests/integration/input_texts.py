"""Texts in ten scripts and more, to be typed and read back."""

from __future__ import annotations

TEXTS = {
    "ascii": "".join(map(chr, range(0x20, 0x7F))), "latin": "Ça façade naïve – Ærøskøbing, Łódź, Größe, señor, Ő ű ţ",
    "greek": "Ελληνικά: Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία",
    "cyrillic": "Съешь же ещё этих мягких французских булок; Їжак, ґанок", "arabic": "نص حكيم له سر قاطع وذو شأن عظيم",
    "hebrew": "דג סקרן שט בים מאוכזב ולפתע מצא חברה", "devanagari": "ऋषियों को सताने वाले दुष्ट राक्षसों",
    "thai": "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า",
    "han": "天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏閏餘成歲律呂調陽雲騰致雨露結為霜",
    "kana": "いろはにほへと ちりぬるを わかよたれそ ツネナラム",
    "hangul": "키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다", "emoji": "😀🚀🧪 👩‍💻 𝔘𝔫𝔦 🇪🇺",
    "combining": "e\u0301 n\u0303 a\u030a\u0323 q\u0307",
}  # fmt: skip

MANY = "".join(chr(0x4E00 + 7 * n) for n in range(200))
"""More different characters than a keymap has room for: it changes under way."""
