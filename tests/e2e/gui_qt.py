"""A Qt window with a mask, a unit, a long list and a question; run by the system's own Python: gui_qt.py 5 | 6."""

import importlib
import sys

QT = f"PyQt{sys.argv[1]}"
widgets = importlib.import_module(f"{QT}.QtWidgets")


def ask() -> None:
    answer = widgets.QMessageBox.question(window, "Remove order", "Remove the order for good?")
    said.setText("removed" if answer == widgets.QMessageBox.StandardButton.Yes else "kept")


app = widgets.QApplication(sys.argv)
app.setStyle("Fusion")
window = widgets.QWidget()
window.setWindowTitle("Order")
form = widgets.QFormLayout(window)
phone, weight, colour = widgets.QLineEdit(), widgets.QSpinBox(), widgets.QComboBox()
phone.setInputMask("(999) 999-9999;_")
weight.setRange(0, 30)
weight.setSuffix(" kg")
colour.addItems(["Red", "Green", "Blue", *(f"Colour {number}" for number in range(30))])
said, remove = widgets.QLabel("nothing was done"), widgets.QPushButton("Remove")
colour.currentTextChanged.connect(lambda text: said.setText(f"Colour is {text}"))
remove.clicked.connect(ask)
for label, widget in (("Phone", phone), ("Weight", weight), ("Colour", colour), ("", said), ("", remove)):
    form.addRow(label, widget)
window.resize(420, 300)
window.move(60, 40)
window.show()
sys.exit(app.exec_() if QT == "PyQt5" else app.exec())
