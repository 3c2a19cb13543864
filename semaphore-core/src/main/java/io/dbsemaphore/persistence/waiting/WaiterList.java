package io.dbsemaphore.persistence.waiting;

import io.dbsemaphore.domain.Waiter;
import java.util.ArrayList;
import java.util.List;

/**
 * Encodes waiting callers in one column: for each the microseconds since the one before it, in base 36, and the number of its
 * permits, or {@code *} for all of them; such as {@code 0:1 2s:1 1rk:*}.
 */
final class WaiterList {

    private static final int RADIX = 36;
    private static final String ALL = "*";

    private WaiterList() {}

    static String encode(List<Waiter> waiters) {
        StringBuilder text = new StringBuilder();
        long before = waiters.isEmpty() ? 0 : waiters.get(0).since();
        for (Waiter waiter : waiters) {
            text.append(text.isEmpty() ? "" : " ")
                    .append(Long.toString(waiter.since() - before, RADIX))
                    .append(':')
                    .append(waiter.exclusive() ? ALL : String.valueOf(waiter.permits()));
            before = waiter.since();
        }
        return text.toString();
    }

    /**
     * Decodes what {@link #encode} has made.
     *
     * @param since the {@link Waiter#since} of the first
     */
    static List<Waiter> decode(String text, long since) {
        List<Waiter> waiters = new ArrayList<>();
        long before = since;
        for (String each : text.split(" ", -1)) {
            int colon = each.indexOf(':');
            before += Long.parseLong(each, 0, colon, RADIX);
            String permits = each.substring(colon + 1);
            boolean exclusive = ALL.equals(permits);
            waiters.add(new Waiter(before, exclusive ? 0 : Integer.parseInt(permits), exclusive));
        }
        return waiters;
    }
}
