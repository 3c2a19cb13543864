package io.dbsemaphore;

import java.nio.charset.StandardCharsets;

/**
 * The rule for the names of semaphores, and for the other keys of this library (external ids, owners): 1 to
 * {@value #MAX_LENGTH} characters, no control characters, no space at either end. They are compared byte for byte on
 * every database: {@code Backup} and {@code backup} are two semaphores.
 */
public final class SemaphoreName {

    /** The longest name, in {@code char}s. */
    public static final int MAX_LENGTH = 190;

    private SemaphoreName() {}

    /**
     * Returns the name if it is valid.
     *
     * @throws IllegalArgumentException when it is not, saying why
     */
    public static String requireValid(String name) {
        return requireValidKey("semaphore name", name);
    }

    /**
     * Returns the key if it follows the same rule.
     *
     * @param what what it is, for the message
     * @throws IllegalArgumentException when it does not, saying why
     */
    @SuppressWarnings("ConstantValue") // callers outside of null-marked code
    public static String requireValidKey(String what, String key) {
        if (key == null) {
            throw new IllegalArgumentException("The " + what + " must not be null");
        }
        if (key.isBlank()) {
            throw new IllegalArgumentException("The " + what + " must not be blank: '" + key + "'");
        }
        if (key.length() > MAX_LENGTH) {
            throw new IllegalArgumentException("The %s has %d characters, at most %d are allowed: '%s…'"
                    .formatted(what, key.length(), MAX_LENGTH, key.substring(0, 40)));
        }
        if (key.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("The %s must not contain control characters: '%s'"
                    .formatted(what, key.replaceAll("\\p{Cntrl}", "?")));
        }
        if (isSpace(key.charAt(0)) || isSpace(key.charAt(key.length() - 1))) {
            throw new IllegalArgumentException("The " + what + " must not begin or end with a space: '" + key + "'");
        }
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(key)) {
            throw new IllegalArgumentException(
                    "The " + what + " contains half a surrogate pair, which no database can" + " store: '" + key + "'");
        }
        return key;
    }

    private static boolean isSpace(char c) {
        return Character.isWhitespace(c) || Character.isSpaceChar(c);
    }
}
