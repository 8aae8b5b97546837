import java.awt.*;
import java.io.*;
import java.nio.file.*;
import java.util.*;

/** Two fields under their labels and two buttons in AWT, whose state is kept in the file of the first argument. */
public class AwtForm {
    static final Map<String, Object> state = new LinkedHashMap<>();
    static Path path;

    static synchronized void set(String label, Object value) {
        state.put(label, value);
        StringBuilder text = new StringBuilder("{");
        for (Map.Entry<String, Object> one : state.entrySet()) {
            String held = one.getValue() instanceof String ? "\"" + one.getValue() + "\"" : "" + one.getValue();
            text.append(text.length() > 1 ? ", " : "").append("\"").append(one.getKey()).append("\": ").append(held);
        }
        try {
            Path fresh = path.resolveSibling("state.new");
            Files.writeString(fresh, text.append("}").toString());
            Files.move(fresh, path, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException fault) {
            throw new UncheckedIOException(fault);
        }
    }

    public static void main(String[] words) {
        path = Path.of(words[0]);
        Frame frame = new Frame("Order form");
        frame.setLayout(new GridLayout(0, 1, 6, 6));
        for (int i = 1; i < words.length; i++) {
            String label = words[i].substring(words[i].indexOf(':') + 1);
            if (words[i].startsWith("entry")) {
                TextField field = new TextField(24);
                set(label, "");
                field.addTextListener(event -> set(label, field.getText()));
                frame.add(new Label(label));
                frame.add(field);
            } else {
                Button button = new Button(label);
                set(label, 0);
                button.addActionListener(event -> set(label, (Integer) state.get(label) + 1));
                frame.add(button);
            }
        }
        frame.pack();
        frame.setLocation(40, 40);
        frame.setVisible(true);
    }
}
