"""What reasoning models print before their answer, taken off: the answer alone is read, and a thought never is one.

Servers with a parser for their model keep thoughts in a field of their own, which nobody here reads. Others print them,
in one of the forms that vendors document (vLLM, "Reasoning Outputs"; SGLang, "Reasoning Parser"; the model cards). A
thought may quote the screen, and the screen may say anything; so where it is not plain which mark ends the thought,
there is no answer.
"""

from __future__ import annotations

_BLOCKS = (
    ("<think>", "</think>"),  # DeepSeek, Qwen, QwQ, GLM, MiniMax, Granite 3.3, ERNIE, Hunyuan, Magistral before 2507
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),  # Magistral
    ("<seed:think>", "</seed:think>"),  # Seed-OSS
    ("◁think▷", "◁/think▷"),  # Kimi-VL, Kimi K2
    ("<|START_THINKING|>", "<|END_THINKING|>"),  # Command A Reasoning
    ("<|channel>thought", "<channel|>"),  # Gemma 4
    ("<|channel|>analysis<|message|>", "<|end|>"),  # gpt-oss (Harmony)
    ("<|start|>assistant<|channel|>analysis<|message|>", "<|end|>"),
    ("Here is my thought process:", "Here is my response:"),  # Granite 3.2
    ("Here's my thought process:", "Here's my response:"),
)
_HEADLESS = ("</think>", "[/THINK]", "</seed:think>", "◁/think▷")
"""Ends of thoughts whose beginning stands in the prompt (DeepSeek-R1, Qwen3-Thinking-2507), on lines of their own."""
_WRAPPED = (
    ("<response>", ("</response>",)),  # Granite 3.3, ERNIE
    ("<answer>", ("</answer>",)),  # Hunyuan
    ("<|START_RESPONSE|>", ("<|END_RESPONSE|>",)),
    ("<|start|>assistant<|channel|>final<|message|>", ("<|return|>", "<|end|>")),
    ("<|channel|>final<|message|>", ("<|return|>", "<|end|>")),
    ("<|begin_of_box|>", ("<|end_of_box|>",)),  # GLM-4.5V
)


def begins_with_thought(text: str) -> bool:
    """Tell whether `text` begins with a mark of a thought."""
    return text.lstrip().startswith(tuple(begin for begin, _ in _BLOCKS))


def thought_and_answer(text: str) -> tuple[str, str] | None:
    """Return what of `text` is thought and what is the answer; None when no answer is plainly told apart.

    So it is when a thought does not end, or its end is found twice.
    """
    rest, thought = text.strip(), ""
    while (block := next((one for one in _BLOCKS if rest.startswith(one[0])), None)) is not None:
        inside, end, rest = rest[len(block[0]) :].partition(block[1])
        if not end or block[1] in rest:
            return None
        thought, rest = f"{thought}{inside}\n", rest.lstrip()
    if not thought:
        headless = _headless(rest)
        if headless is None:
            return None
        thought, rest = headless
    return thought, _unwrapped(rest)


def without_thought(text: str) -> str:
    """Return the answer in `text`; "" when it is all thought."""
    parts = thought_and_answer(text) if begins_with_thought(text) else ("", text)
    return parts[1] if parts is not None else ""


def _headless(text: str) -> tuple[str, str] | None:
    lines = text.splitlines(keepends=True)
    ends = [number for number, line in enumerate(lines) if line.strip() in _HEADLESS]
    if not ends:
        return "", text
    return ("".join(lines[: ends[0]]), "".join(lines[ends[0] + 1 :]).strip()) if len(ends) == 1 else None


def _unwrapped(text: str) -> str:
    for begin, ends in _WRAPPED:
        if text.startswith(begin):
            inside = text[len(begin) :].rstrip()
            return next((inside.removesuffix(end) for end in ends if inside.endswith(end)), inside).strip()
    return text
