package io.dbsemaphore.rewrite;

import java.util.List;
import java.util.regex.Pattern;

/** A property of Spring Boot, in the notations of both kinds of files. */
record Setting(List<String> path, String value) {

    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9-]+");

    static Setting of(String property, String value) {
        return new Setting(List.of(property.split("\\.")), value);
    }

    String yaml() {
        StringBuilder yaml = new StringBuilder();
        for (int depth = 0; depth < path.size(); depth++) {
            String key = path.get(depth);
            yaml.append(depth == 0 ? "" : "\n")
                    .append("  ".repeat(depth))
                    .append(isPlain(key) ? key : "\"[" + key + "]\"")
                    .append(':');
        }
        return yaml.append(' ').append(value).toString();
    }

    /** {@return the key as it is written in a file of properties} */
    String key() {
        StringBuilder property = new StringBuilder();
        for (String key : path) {
            if (isPlain(key)) {
                property.append(property.isEmpty() ? "" : ".").append(key);
            } else {
                property.append(".[").append(key.replaceAll("[:= ]", "\\\\$0")).append(']');
            }
        }
        return property.toString();
    }

    private static boolean isPlain(String key) {
        return PLAIN.matcher(key).matches();
    }
}
