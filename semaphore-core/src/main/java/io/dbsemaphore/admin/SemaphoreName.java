package io.dbsemaphore.admin;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/**
 * The rule for names of semaphores and for the other keys of this library (external ids, owners, labels): 1 to
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
     * Checks a key against the rule for semaphore names.
     *
     * @param what the kind of the key, for the message
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
        if (hasAny(key, Character.CONTROL)) {
            throw new IllegalArgumentException("The %s must not contain control characters: '%s'"
                    .formatted(what, key.replaceAll("\\p{Cntrl}", "?")));
        }
        if (isSpace(key.charAt(0)) || isSpace(key.charAt(key.length() - 1))) {
            throw new IllegalArgumentException("The " + what + " must not begin or end with a space: '" + key + "'");
        }
        if (hasAny(key, Character.SURROGATE)) {
            throw new IllegalArgumentException(
                    "The " + what + " contains half a surrogate pair, which no database can" + " store: '" + key + "'");
        }
        return key;
    }

    /**
     * Checks a share, {@code tenant} or {@code tenant/key}: a key whose first {@code /}, if there is one, has text on both sides. A tenant
     * has at most 189 characters.
     *
     * @param share the share
     * @return the share
     * @throws IllegalArgumentException if it is invalid
     */
    public static String requireValidShare(String share) {
        requireValidKey("share", share);
        int slash = share.indexOf('/');
        if (slash == 0 || slash == share.length() - 1) {
            throw new IllegalArgumentException(
                    "The share has no %s: '%s'. Write it as 'tenant' or 'tenant/key'; the first / separates them"
                            .formatted(slash == 0 ? "tenant" : "key", share));
        }
        if (share.length() == MAX_LENGTH && slash < 0) {
            throw new IllegalArgumentException("The tenant has %d characters, at most %d are allowed: '%s…'"
                    .formatted(MAX_LENGTH, MAX_LENGTH - 1, share.substring(0, 40)));
        }
        return share;
    }

    /**
     * Finds the name that a misspelled one probably means. The two differ by at most two inserted, deleted or changed characters, or by a
     * third of the misspelled name's length if that is more.
     *
     * @param misspelled the name that does not exist
     * @param names the names that exist
     * @return the nearest of them; empty if none is similar
     */
    public static Optional<String> nearest(String misspelled, Collection<String> names) {
        int most = Math.min(Math.max(2, misspelled.length() / 3), misspelled.length() - 1);
        return names.stream()
                .filter(name -> Math.abs(name.length() - misspelled.length()) <= most)
                .filter(name -> distance(misspelled, name) <= most)
                .min(Comparator.<String>comparingInt(name -> distance(misspelled, name))
                        .thenComparing(Comparator.naturalOrder()));
    }

    /** The Levenshtein distance, computed row by row. */
    private static int distance(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int column = 0; column < row.length; column++) {
            row[column] = column;
        }
        for (int i = 0; i < from.length(); i++) {
            int diagonal = row[0];
            row[0] = i + 1;
            for (int j = 0; j < to.length(); j++) {
                int change = diagonal + (from.charAt(i) == to.charAt(j) ? 0 : 1);
                diagonal = row[j + 1];
                row[j + 1] = Math.min(change, 1 + Math.min(diagonal, row[j]));
            }
        }
        return row[to.length()];
    }

    /** Whether one of the code points is of this general category. A stream would be too slow for acquires of reused permits. */
    private static boolean hasAny(String key, byte category) {
        for (int i = 0; i < key.length(); i += Character.charCount(key.codePointAt(i))) {
            if (Character.getType(key.codePointAt(i)) == category) {
                return true;
            }
        }
        return false;
    }

    private static boolean isSpace(char c) {
        return Character.isWhitespace(c) || Character.isSpaceChar(c);
    }
}
