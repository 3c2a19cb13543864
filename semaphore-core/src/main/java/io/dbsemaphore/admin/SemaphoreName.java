package io.dbsemaphore.admin;

/**
 * The rule for names of semaphores and for the other keys of this library (external ids, owners): 1 to
 * {@value #MAX_LENGTH} UTF-16 code units, no control characters, no space at either end, and no half of a surrogate pair. Keys
 * are compared byte for byte on every database: {@code Backup} and {@code backup} are different semaphores.
 */
public final class SemaphoreName {

    /** The longest name, in UTF-16 code units: 190. */
    public static final int MAX_LENGTH = 190;

    private SemaphoreName() {}

    /**
     * Checks the name of a semaphore.
     *
     * @param name the name
     * @return the name
     * @throws IllegalArgumentException if it is invalid
     */
    public static String requireValid(String name) {
        return requireValidKey("semaphore name", name);
    }

    /**
     * Checks a key by the same rule.
     *
     * @param what what the key is, for the message
     * @param key the key
     * @return the key
     * @throws IllegalArgumentException if it is invalid
     */
    @SuppressWarnings("ConstantValue") // callers may not be null-marked
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
        if (hasControlCharacter(key)) {
            throw new IllegalArgumentException("The %s must not contain control characters: '%s'"
                    .formatted(what, key.replaceAll("\\p{Cntrl}", "?")));
        }
        if (isSpace(key.charAt(0)) || isSpace(key.charAt(key.length() - 1))) {
            throw new IllegalArgumentException("The " + what + " must not begin or end with a space: '" + key + "'");
        }
        if (hasHalfSurrogatePair(key)) {
            throw new IllegalArgumentException(
                    "The " + what + " contains half a surrogate pair, which no database can" + " store: '" + key + "'");
        }
        return key;
    }

    private static boolean hasControlCharacter(String key) {
        for (int i = 0; i < key.length(); i++) {
            if (Character.isISOControl(key.charAt(i))) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasHalfSurrogatePair(String key) {
        for (int i = 0; i < key.length(); i++) {
            if (Character.isSurrogate(key.charAt(i))) {
                if (!Character.isSupplementaryCodePoint(key.codePointAt(i))) {
                    return true;
                }
                i++; // the other half
            }
        }
        return false;
    }

    private static boolean isSpace(char c) {
        return Character.isWhitespace(c) || Character.isSpaceChar(c);
    }
}
