package io.dbsemaphore.persistence.waiting;

import io.dbsemaphore.domain.Place;
import io.dbsemaphore.domain.Waiter;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Encodes waiting callers in one column: for each the microseconds since the one before it, in base 36, and the number of its
 * permits, or {@code *} for all of them, with {@code +} if it waits for several semaphores; such as {@code 0:1 2s:1+ 1rk:*}.
 */
final class WaiterList {

    private static final int RADIX = 36;
    private static final String ALL = "*";
    private static final String OF_SEVERAL = "+";

    /** Numbers that cannot overflow. */
    private static final Pattern WAITER = Pattern.compile("([0-9a-z]{1,11}):([1-9][0-9]{0,8}|\\*)(\\+?)");

    private WaiterList() {}

    static String encode(List<Waiter> waiters) {
        StringBuilder text = new StringBuilder();
        long before = waiters.isEmpty() ? 0 : waiters.get(0).place().firstRefusedAt();
        for (Waiter waiter : waiters) {
            long at = waiter.place().firstRefusedAt();
            text.append(text.isEmpty() ? "" : " ")
                    .append(Long.toString(at - before, RADIX))
                    .append(':')
                    .append(waiter.exclusive() ? ALL : String.valueOf(waiter.permits()))
                    .append(waiter.ofSeveral() ? OF_SEVERAL : "");
            before = at;
        }
        return text.toString();
    }

    /**
     * Decodes what {@link #encode} has made.
     *
     * @param since when the first was first refused
     * @return empty if the text is not of this format, as when another version has made it
     */
    static List<Waiter> decode(String text, long since) {
        List<Waiter> waiters = new ArrayList<>();
        long before = since;
        for (String each : text.split(" ", -1)) {
            Matcher matcher = WAITER.matcher(each);
            if (!matcher.matches()) {
                return List.of();
            }
            before += Long.parseLong(matcher.group(1), RADIX);
            boolean exclusive = ALL.equals(matcher.group(2));
            int permits = exclusive ? 0 : Integer.parseInt(matcher.group(2));
            waiters.add(new Waiter(Place.at(before), permits, exclusive, OF_SEVERAL.equals(matcher.group(3))));
        }
        return waiters;
    }
}
