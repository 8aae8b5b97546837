import java.io.*;
import java.nio.file.*;
import javax.swing.*;
import javax.swing.event.*;
import javax.swing.text.JTextComponent;

/** A Swing letter: an input box of the same program opens 60 ms after the first letter. State in the file of argument 1. */
public class SwingThief {
    static String letter = "", dialog = "";
    static Path path;

    static synchronized void note() {
        try {
            Path fresh = path.resolveSibling("state.new");
            Files.writeString(fresh, "{\"letter\": \"" + letter + "\", \"dialog\": \"" + dialog + "\"}");
            Files.move(fresh, path, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }

    static void watch(JTextComponent text, Runnable changed) {
        text.getDocument().addDocumentListener(new DocumentListener() {
            public void insertUpdate(DocumentEvent event) { changed.run(); }
            public void removeUpdate(DocumentEvent event) { changed.run(); }
            public void changedUpdate(DocumentEvent event) { changed.run(); }
        });
    }

    public static void main(String[] words) {
        path = Path.of(words[0]);
        note();
        SwingUtilities.invokeLater(() -> {
            JFrame frame = new JFrame("Letter3");
            JTextArea area = new JTextArea(12, 50);
            area.setLineWrap(true);
            boolean[] asked = {false};
            watch(area, () -> {
                letter = area.getText();
                note();
                if (!asked[0]) {
                    asked[0] = true;
                    Timer timer = new Timer(60, event -> {
                        JTextField field = new JTextField(20);
                        watch(field, () -> { dialog = field.getText(); note(); });
                        JOptionPane pane = new JOptionPane(field, JOptionPane.QUESTION_MESSAGE, JOptionPane.OK_CANCEL_OPTION);
                        JDialog box = pane.createDialog(frame, "Interruption");
                        box.addWindowFocusListener(new java.awt.event.WindowAdapter() {
                            public void windowGainedFocus(java.awt.event.WindowEvent gained) { field.requestFocusInWindow(); }
                        });
                        box.setVisible(true);
                    });
                    timer.setRepeats(false);
                    timer.start();
                }
            });
            frame.add(new JScrollPane(area));
            frame.pack();
            frame.setLocation(20, 20);
            frame.setVisible(true);
            area.requestFocusInWindow();
        });
    }
}
