"""A window that shows words: wx, pygame or matplotlib, run by a system Python.

`blinker.py TOOLKIT WORDS [SHOWN_S HIDDEN_S]`: with two times the words come and go. SIGUSR1 takes them away for good,
SIGUSR2 paints `READY` in their place.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable

TITLE = "Uploader"


class Words:
    """What is to be shown now."""

    def __init__(self, words: str, shown_s: float, hidden_s: float) -> None:
        self._words, self._shown_s, self._hidden_s = words, shown_s, hidden_s
        self._started_s = time.monotonic()
        signal.signal(signal.SIGUSR1, lambda *_: self._become(""))
        signal.signal(signal.SIGUSR2, lambda *_: self._become("READY"))

    def _become(self, words: str) -> None:
        self._words, self._hidden_s = words, 0.0

    def now(self) -> str:
        """Return the words, or "" in a gap."""
        if not self._hidden_s:
            return self._words
        at_s = (time.monotonic() - self._started_s) % (self._shown_s + self._hidden_s)
        return self._words if at_s < self._shown_s else ""


def show_wx(words: Words) -> None:
    import wx  # type: ignore[import-not-found]

    app = wx.App()
    frame = wx.Frame(None, title=TITLE, pos=(40, 40), size=(460, 180))
    label = wx.StaticText(frame, label=words.now(), pos=(30, 40))
    label.SetFont(wx.Font(20, wx.FONTFAMILY_SWISS, wx.FONTSTYLE_NORMAL, wx.FONTWEIGHT_NORMAL))
    timer = wx.Timer(frame)
    frame.Bind(wx.EVT_TIMER, lambda _: label.GetLabel() != words.now() and label.SetLabel(words.now()))
    timer.Start(30)
    frame.Show()
    app.MainLoop()


def show_pygame(words: Words) -> None:
    import pygame  # type: ignore[import-not-found]

    pygame.display.init()
    pygame.font.init()
    surface = pygame.display.set_mode((460, 180))
    pygame.display.set_caption(TITLE)
    font = pygame.font.Font(pygame.font.match_font("dejavusans"), 26)
    shown = None
    while not any(event.type == pygame.QUIT for event in [pygame.event.wait(30)]):
        if shown != (shown := words.now()):
            surface.fill((255, 255, 255))
            surface.blit(font.render(shown, True, (0, 0, 0)), (30, 60))
            pygame.display.flip()


def show_matplotlib(words: Words) -> None:
    import matplotlib  # type: ignore[import-not-found]

    matplotlib.use("Qt5Agg")
    from matplotlib import pyplot  # type: ignore[import-not-found]

    figure = pyplot.figure(TITLE, figsize=(5, 3))
    axes = figure.add_subplot()
    axes.plot([1, 3, 2])
    title = axes.set_title(words.now(), fontsize=18)
    timer = figure.canvas.new_timer(interval=30)

    def update() -> None:
        if title.get_text() != words.now():
            title.set_text(words.now())
            figure.canvas.draw_idle()

    timer.add_callback(update)
    timer.start()
    pyplot.show()


if __name__ == "__main__":
    toolkit, text, *times = sys.argv[1:]
    shown_s, hidden_s = [float(one) for one in times] or (1.0, 0.0)
    makers: dict[str, Callable[[Words], None]] = {"wx": show_wx, "pygame": show_pygame, "matplotlib": show_matplotlib}
    makers[toolkit](Words(text, shown_s, hidden_s))
