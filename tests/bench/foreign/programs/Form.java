// The form of form.py in Java Swing: `java Form.java above|beside FILE KIND:LABEL[=VALUE] …`.

import java.awt.BorderLayout;
import java.awt.GridBagConstraints;
import java.awt.GridBagLayout;
import java.awt.Insets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.swing.BorderFactory;
import javax.swing.JButton;
import javax.swing.JCheckBox;
import javax.swing.JComboBox;
import javax.swing.JComponent;
import javax.swing.JFrame;
import javax.swing.JLabel;
import javax.swing.JPanel;
import javax.swing.JScrollPane;
import javax.swing.JTextArea;
import javax.swing.JTextField;
import javax.swing.SwingUtilities;
import javax.swing.event.DocumentEvent;
import javax.swing.event.DocumentListener;
import javax.swing.text.JTextComponent;

public class Form {
    static final Map<String, Object> STATE = new LinkedHashMap<>();
    static Path path;

    static void set(String label, Object value) {
        STATE.put(label, value);
        String text = STATE.entrySet().stream().map(e -> quote(e.getKey()) + ": "
            + (e.getValue() instanceof String ? quote((String) e.getValue()) : e.getValue().toString()))
            .collect(Collectors.joining(", ", "{", "}"));
        try {
            Path fresh = path.resolveSibling(path.getFileName() + ".new");
            Files.writeString(fresh, text);
            Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE);
        } catch (java.io.IOException fault) {
            throw new java.io.UncheckedIOException(fault);
        }
    }

    static String quote(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }

    static JComponent make(String kind, String label, String value) {
        if (kind.equals("button")) {
            JButton made = new JButton(label);
            made.addActionListener(event -> set(label, (Integer) STATE.get(label) + 1));
            set(label, 0);
            return made;
        }
        if (kind.equals("check")) {
            JCheckBox made = new JCheckBox(label, !value.isEmpty());
            made.addItemListener(event -> set(label, made.isSelected()));
            set(label, made.isSelected());
            return made;
        }
        if (kind.equals("combo")) {
            JComboBox<String> made = new JComboBox<>(value.split("\\|"));
            made.addItemListener(event -> set(label, made.getSelectedItem()));
            set(label, made.getSelectedItem());
            return made;
        }
        JTextComponent made = kind.equals("area") ? new JTextArea(value, 6, 24)
            : new JTextField(value, kind.equals("short") ? 6 : 24);
        made.getDocument().addDocumentListener(new DocumentListener() {
            public void insertUpdate(DocumentEvent event) { set(label, made.getText()); }
            public void removeUpdate(DocumentEvent event) { set(label, made.getText()); }
            public void changedUpdate(DocumentEvent event) { set(label, made.getText()); }
        });
        set(label, value);
        if (kind.equals("framed")) {
            JPanel frame = new JPanel(new BorderLayout());
            frame.setBorder(BorderFactory.createTitledBorder(label));
            frame.add(made);
            return frame;
        }
        return kind.equals("area") ? new JScrollPane(made) : made;
    }

    public static void main(String[] given) {
        path = Path.of(given[1]);
        int above = given[0].equals("above") ? 1 : 0;
        SwingUtilities.invokeLater(() -> {
            JPanel panel = new JPanel(new GridBagLayout());
            for (int row = 0; row + 2 < given.length; row++) {
                String kind = given[row + 2].split(":", 2)[0];
                String[] parts = given[row + 2].split(":", 2)[1].split("=", 2);
                JComponent made = make(kind, parts[0], parts.length > 1 ? parts[1] : "");
                Insets gap = new Insets(6, 8, 2, 8);
                if (!List.of("button", "check", "framed").contains(kind)) {
                    panel.add(new JLabel(parts[0]), new GridBagConstraints(0, 2 * row, 1, 1, 0, 0,
                        GridBagConstraints.WEST, 0, gap, 0, 0));
                }
                panel.add(made, new GridBagConstraints(1 - above, 2 * row + above, 1, 1, 0, 0,
                    GridBagConstraints.WEST, 0, gap, 0, 0));
            }
            JFrame frame = new JFrame("Form");
            frame.add(panel, BorderLayout.NORTH);
            frame.pack();
            frame.setLocation(40, 40);
            frame.setVisible(true);
        });
    }
}
