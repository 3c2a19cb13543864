package io.dbsemaphore.tools.faults.oracle;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds callers with a share that waited for longer than is promised. The time is of no use as a bound, since a fault can stop all grants;
 * grants are counted instead, in the order of their fencing tokens. All weights are 1, and each grant is of one permit.
 *
 * <p>While a caller waits, its key and its tenant wait. So each other key of its tenant is granted at most 1/1 + 1/1 = 2 permits more than
 * its own key, and each other tenant at most 2 more than its own. With k callers of its own key that were granted before it, that is at
 * most k + 2 grants of each other key of its tenant. If a tenant has two keys, it is at most k + (k + 2) + 2 of each other tenant.
 *
 * <p>Faults allow for more:
 *
 * <ul>
 *   <li>The missing tokens are grants that no client has told of, because it was killed or cut off. They may be of the caller's own key.
 *   <li>Other instances know of a caller when its own has recorded it in a transaction. Grants count from when its client was granted
 *       {@link #LATER} acquires that began later, on any semaphore.
 *   <li>An instance that stands still is passed over after some time. If nothing was granted to a client for longer than {@link #PAUSE}, on
 *       no semaphore, the waits of its callers begin anew, as they do when a fault of the server begins or ends.
 *   <li>When the count begins, a transaction of each client may have granted permits that the oracle is not told of yet, or may be
 *       granting them without a record of the caller: {@link #TOLERATED}.
 * </ul>
 */
final class FairShares implements Check {

    /** Well below the second and a half by which an instance that stands still delays others. */
    private static final long PAUSE = Duration.ofMillis(500).toNanos();

    /** One or two of them may have been granted in one round trip, without the transaction that records the caller. */
    private static final int LATER = 3;

    private static final int PROMISED = 2;

    /** The capacity of two permits for each of three clients. */
    private static final int TOLERATED = 6;

    private record Grant(long token, String share) {}

    /** A caller that waits, or did, with the tokens between which the grants of others count. */
    private static final class Wait {

        private final Hold hold;
        private final String name;
        private final String share;
        private long since;
        private int later;
        private long after;
        private long before;

        private Wait(Hold hold) {
            this.hold = hold;
            name = hold.permits.keySet().iterator().next();
            share = hold.acquiring().detail();
            since = hold.firstAskedAt;
        }

        private void beginsAnew(long now) {
            since = now;
            later = 0;
        }

        private boolean isKnown() {
            return later == LATER;
        }
    }

    private final Findings findings;
    private final Map<Hold, Wait> waiting = new HashMap<>();
    private final Map<String, Long> servedAt = new HashMap<>();
    private final Map<String, List<Grant>> grants = new HashMap<>();
    private final Map<String, Long> last = new HashMap<>();
    private final List<Wait> waits = new ArrayList<>();
    private long most;

    FairShares(Findings findings) {
        this.findings = findings;
    }

    @Override
    public void accept(Event event, @Nullable Hold hold) {
        if (event.client().equals(Event.SERVER)) {
            waiting.values().forEach(wait -> wait.beginsAnew(event.nanos()));
        } else if (hold != null) {
            switch (event.kind()) {
                case ACQUIRING -> {
                    if (!event.detail().isEmpty()) {
                        waiting.put(hold, new Wait(hold));
                    }
                }
                case GRANTED -> {
                    if (!event.detail().equals(Event.REUSED)) { // such a grant is made without the database
                        granted(event, hold);
                    }
                }
                case REFUSED -> {
                    beginAnewIfPaused(event);
                    end(hold, Long.MAX_VALUE); // all grants so far came before
                }
                default -> {}
            }
        }
    }

    private void granted(Event event, Hold hold) {
        beginAnewIfPaused(event);
        servedAt.put(event.client(), event.nanos());
        waiting.values().forEach(wait -> {
            if (wait.hold.client.equals(hold.client) && wait.since < hold.firstAskedAt && !wait.isKnown()) {
                wait.later++;
                wait.after = last.getOrDefault(wait.name, 0L);
            }
        });
        Wait wait = waiting.get(hold);
        if (wait != null) {
            long token = event.numbers().getOrDefault(wait.name, 0L);
            grants.computeIfAbsent(wait.name, any -> new ArrayList<>()).add(new Grant(token, wait.share));
            last.merge(wait.name, token, Math::max);
            end(hold, token);
        }
    }

    private void beginAnewIfPaused(Event event) {
        Long served = servedAt.get(event.client());
        if (served == null || event.nanos() - served > PAUSE) {
            waiting.values().stream()
                    .filter(wait -> wait.hold.client.equals(event.client()))
                    .forEach(wait -> wait.beginsAnew(event.nanos()));
        }
    }

    private void end(Hold hold, long before) {
        Wait wait = waiting.remove(hold);
        if (wait != null && wait.isKnown()) {
            wait.before = Math.min(before, last.getOrDefault(wait.name, 0L) + 1);
            waits.add(wait);
        }
    }

    @Override
    public void ended(Hold hold) {
        waiting.remove(hold);
    }

    @Override
    public void finish() {
        grants.values().forEach(all -> all.sort(Comparator.comparingLong(Grant::token)));
        waits.forEach(wait -> judge(wait, grants.getOrDefault(wait.name, List.of())));
    }

    private void judge(Wait wait, List<Grant> all) {
        String tenant = tenantOf(wait.share);
        Map<String, Long> keys = new HashMap<>();
        Map<String, Long> tenants = new HashMap<>();
        long known = 0;
        for (int next = firstAfter(wait.after, all); next < all.size(); next++) {
            Grant grant = all.get(next);
            if (grant.token >= wait.before) {
                break;
            }
            known++;
            tenants.merge(tenantOf(grant.share), 1L, Long::sum);
            if (tenantOf(grant.share).equals(tenant)) {
                keys.merge(grant.share, 1L, Long::sum);
            }
        }
        long missing = Math.max(0, wait.before - wait.after - 1 - known);
        compare(wait, wait.share, keys, missing);
        compare(wait, tenant, tenants, missing);
    }

    /** Compares what others were granted with what was granted to the key, or the tenant, of the caller. */
    private void compare(Wait wait, String own, Map<String, Long> counts, long missing) {
        long mostOwn = counts.getOrDefault(own, 0L) + missing;
        counts.forEach((other, count) -> {
            most = Math.max(most, count - mostOwn);
            if (count - mostOwn > PROMISED + TOLERATED) {
                findings.add(
                        Findings.Kind.UNFAIR,
                        "%s: while %s waited, which asked at %s, %s was granted %d permits, and %s at most %d"
                                .formatted(
                                        wait.name,
                                        wait.hold.request,
                                        Oracle.time(wait.hold.firstAskedAt),
                                        other,
                                        count,
                                        own,
                                        mostOwn));
            }
        });
    }

    private static int firstAfter(long token, List<Grant> all) {
        int found = Collections.binarySearch(all, new Grant(token, ""), Comparator.comparingLong(Grant::token));
        return found < 0 ? -found - 1 : found + 1;
    }

    private static String tenantOf(String share) {
        return share.substring(0, share.indexOf('/'));
    }

    /** How many waits were judged: those during which the caller was known to all instances. */
    int judged() {
        return waits.size();
    }

    /** The most grants that another key or tenant had more than the caller's own. */
    long most() {
        return most;
    }
}
