"""A Qt 5 dialog for the system's Python: says on standard output, a JSON object a line, where its parts are and what
was done to them.
"""

import json
import sys

from PyQt5.QtCore import QPoint, Qt, QTimer
from PyQt5.QtWidgets import QApplication, QLineEdit, QMainWindow, QPushButton, QSlider, QVBoxLayout, QWidget


def say(**facts):
    print(json.dumps(facts), flush=True)


def place(widget, box=None):
    box = box or widget.rect()
    centre = widget.mapToGlobal(QPoint(box.center()))
    return [centre.x(), centre.y(), box.width(), box.height()]


application = QApplication(sys.argv)
window = QMainWindow()
window.setWindowTitle("qt dialog")
inside = QWidget()
column = QVBoxLayout(inside)
window.setCentralWidget(inside)

menu = window.menuBar().addMenu("File")
action = menu.addAction("Export")
action.triggered.connect(lambda: say(menu="Export"))
menu.aboutToShow.connect(lambda: QTimer.singleShot(100, lambda: say(item=place(menu, menu.actionGeometry(action)))))

entry = QLineEdit()
entry.textChanged.connect(lambda text: say(text=text))
button = QPushButton("OK")
button.clicked.connect(lambda: say(clicked="OK"))
slider = QSlider(Qt.Horizontal)
slider.valueChanged.connect(lambda value: say(slider=value))
for part in (entry, button, slider):
    column.addWidget(part)
window.resize(400, 300)
window.move(40, 60)
window.show()
last = []


def tell_places():
    bar = window.menuBar()
    now = {"file": place(bar, bar.actionGeometry(menu.menuAction())), "entry": place(entry), "button": place(button)}
    now["slider"] = place(slider)
    # The window manager has placed it before it gives it the keyboard.
    if last == [now] and window.isActiveWindow():
        timer.stop()
        say(places=now)
    last[:] = [now]


timer = QTimer()
timer.timeout.connect(tell_places)
timer.start(300)
application.exec_()
