package io.dbsemaphore.persistence;

import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.RecordedHead;
import io.dbsemaphore.line.Share;
import io.dbsemaphore.line.Waiter;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The text by which instances tell each other who waits, so that instances of different versions can wait in one queue.
 *
 * <p>It begins with its version. Each space is followed by one caller: in base 36, the microseconds from the place of the caller before it,
 * or from the earliest arrival for the first one; then the number of its permits, or {@code *} for all of them; then {@code +} if it waits
 * for several semaphores; then {@code ;h=} and its head start, if it has one. An example is {@code 1 0:1 2s:1+ -1e:*;h=5j}. A difference
 * may be negative. In a text with shares, {@code n=} and the decimal number of all callers with the share of this one may follow. Versions
 * without head starts take a place for an arrival, and get the same order.
 *
 * <p>A later version of the library may append to a caller, after {@code ;} or {@code ,}, what this one can ignore. If ignoring it would
 * break the order, the later version has a higher number. A text that this one does not understand stands for one caller of one permit who
 * came first: one permit is withheld, so that the order is kept as far as possible, and all others remain available.
 *
 * <p>Versions before this text read a {@linkplain #encodeByPlace simpler one} in a column of its own, which is still written for them.
 */
final class WaiterCodec {

    private static final String VERSION = "1";
    private static final int RADIX = 36;
    private static final String ALL = "*";
    private static final String OF_SEVERAL = "+";
    private static final String HEAD_START = ";h=";
    private static final String CALLERS = "n=";

    /** Limits the digits, so that no number overflows. */
    private static final Pattern WAITER =
            Pattern.compile("(-?[0-9a-z]{1,11}):([1-9][0-9]{0,9}|\\*)(\\+?)(?:;(?:h=([0-9a-z]{1,11})(?:,|$))?[^ ]*)?");

    private static final Pattern CALLERS_WITH_SHARE = Pattern.compile("[^;]*;(?:[^ ]*,)?n=([0-9]{1,9})(?:,[^ ]*)?");

    /** Stands for nobody with a share. */
    static final String NO_SHARES = "-";

    private static final int MAX_SHARES = 4_000;
    private static final String NEXT = "\n";
    private static final Pattern WITH_SHARE =
            Pattern.compile("([^|]+)\\|([0-9]{1,4}),([0-9]{1,4})\\|(.*)", Pattern.DOTALL);

    private WaiterCodec() {}

    /**
     * The texts of a row.
     *
     * @param byPlace for versions that know no others
     * @param waiters for versions that know no shares; null if an earlier version has written the row
     * @param shares with shares; {@link #NO_SHARES} if there are none; null if an earlier version has written the row
     */
    record Texts(
            String byPlace,
            @Nullable String waiters,
            @Nullable String shares) {}

    /** Decodes a row. */
    static RecordedHead decode(
            long semaphoreId, long instance, Texts texts, long since, int size, LocalDateTime expiresAt) {
        String shares = texts.shares();
        WithShares callers = shares == null ? null : decodeShares(shares, since);
        if (callers != null) {
            return new RecordedHead(
                    semaphoreId, instance, callers.waiters(), size, expiresAt, callers.weights(), callers.byShare());
        }
        List<Waiter> waiters = decode(texts.waiters(), texts.byPlace(), since);
        boolean knowsShares = NO_SHARES.equals(shares);
        Map<String, Integer> weights = knowsShares ? Map.of() : null;
        return new RecordedHead(semaphoreId, instance, waiters, size, expiresAt, weights);
    }

    /**
     * Waiting callers with shares, in their order.
     *
     * @param weights the weights of these shares, by tenant and by path
     * @param byShare the number of callers with a share, by path, where more wait than these
     */
    record WithShares(List<Waiter> waiters, Map<String, Integer> weights, Map<String, Integer> byShare) {

        WithShares(List<Waiter> waiters, Map<String, Integer> weights) {
            this(waiters, weights, Map.of());
        }
    }

    /**
     * Encodes waiting callers with their shares: after the version, a line for each, with the text above, the weights of its tenant and
     * its key, and its share. Leaves out the last ones if they do not fit.
     *
     * @param since the earliest arrival
     */
    static String encode(WithShares callers, long since) {
        StringBuilder text = new StringBuilder(VERSION);
        long before = since;
        Set<String> counted = new HashSet<>();
        for (Waiter waiter : callers.waiters()) {
            String path = waiter.share().path();
            Integer count = counted.add(path) ? callers.byShare().get(path) : null;
            String next = NEXT + encode(List.of(waiter), before, true)
                    + (count == null ? "" : (waiter.headStart() > 0 ? "," : ";") + CALLERS + count) + "|"
                    + callers.weights().getOrDefault(waiter.share().tenant(), 1) + ","
                    + callers.weights().getOrDefault(waiter.share().keyPath(), 1) + "|"
                    + path;
            if (text.length() + next.length() > MAX_SHARES) {
                break;
            }
            text.append(next);
            before = waiter.place().at();
        }
        return text.toString();
    }

    /** The number of callers in a text with shares, which may have been too long for the last ones. */
    static int callers(String text) {
        return text.split(NEXT, -1).length - 1;
    }

    /** Decodes what {@link #encode(WithShares, long)} has encoded; null if it is not understood. */
    static @Nullable WithShares decodeShares(String text, long since) {
        String[] lines = text.split(NEXT, -1);
        if (!lines[0].equals(VERSION) || lines.length == 1) {
            return null;
        }
        List<Waiter> waiters = new ArrayList<>();
        Map<String, Integer> weights = new HashMap<>(Map.of(Share.NONE.path(), 1));
        Map<String, Integer> byShare = new HashMap<>();
        long before = since;
        for (String line : Arrays.asList(lines).subList(1, lines.length)) {
            Matcher matcher = WITH_SHARE.matcher(line);
            List<Waiter> caller = matcher.matches() ? callers(matcher.group(1), before) : List.of();
            if (caller.size() != 1) {
                return null;
            }
            Share share = Share.of(matcher.group(4));
            Waiter first = caller.get(0);
            waiters.add(new Waiter(first.place(), first.ask(), first.ofSeveral(), first.headStart(), share));
            if (!share.isNone()) {
                weights.put(share.tenant(), Math.max(1, Integer.parseInt(matcher.group(2))));
            }
            if (!share.key().isEmpty()) {
                weights.put(share.path(), Math.max(1, Integer.parseInt(matcher.group(3))));
            }
            Matcher count = CALLERS_WITH_SHARE.matcher(matcher.group(1));
            if (count.matches()) {
                byShare.put(share.path(), Integer.parseInt(count.group(1)));
            }
            before = first.place().at();
        }
        return new WithShares(waiters, weights, byShare);
    }

    /** Encodes waiting callers in their order. The earliest of them came at this time. */
    static String encode(List<Waiter> waiters, long since) {
        return VERSION + " " + encode(waiters, since, true);
    }

    /** Encodes waiting callers for versions of the library that take places for arrivals and expect the callers in that order. */
    static String encodeByPlace(List<Waiter> waiters, long since) {
        List<Waiter> sorted = waiters.stream()
                .sorted(Comparator.comparingLong(waiter -> waiter.place().at()))
                .toList();
        return encode(sorted, since, false);
    }

    private static String encode(List<Waiter> waiters, long since, boolean withHeadStarts) {
        StringBuilder text = new StringBuilder();
        long before = since;
        for (Waiter waiter : waiters) {
            text.append(text.isEmpty() ? "" : " ")
                    .append(Long.toString(waiter.place().at() - before, RADIX))
                    .append(':')
                    .append(
                            waiter.ask().exclusive()
                                    ? ALL
                                    : String.valueOf(waiter.ask().count()))
                    .append(waiter.ofSeveral() ? OF_SEVERAL : "")
                    .append(
                            withHeadStarts && waiter.headStart() > 0
                                    ? HEAD_START + Long.toString(waiter.headStart(), RADIX)
                                    : "");
            before = waiter.place().at();
        }
        return text.toString();
    }

    /**
     * Decodes the texts of a row.
     *
     * @param text null if an earlier version has written the row
     * @param byArrival the text that such a version reads and writes; stands for nobody if it is not understood
     * @param since the earliest arrival
     */
    static List<Waiter> decode(@Nullable String text, String byArrival, long since) {
        if (text == null) {
            return callers(byArrival, since);
        }
        List<Waiter> waiters =
                text.startsWith(VERSION + " ") ? callers(text.substring(VERSION.length() + 1), since) : List.of();
        return waiters.isEmpty() ? List.of(new Waiter(Places.at(since), Ask.of(1), false)) : waiters;
    }

    /** Returns an empty list if one caller is not understood. */
    private static List<Waiter> callers(String text, long since) {
        List<Waiter> waiters = new ArrayList<>();
        long before = since;
        for (String each : text.split(" ", -1)) {
            Matcher matcher = WAITER.matcher(each);
            if (!matcher.matches()) {
                return List.of();
            }
            before += Long.parseLong(matcher.group(1), RADIX);
            Ask ask = ALL.equals(matcher.group(2))
                    ? Ask.ALL
                    : Ask.of((int) Math.min(Integer.MAX_VALUE, Long.parseLong(matcher.group(2))));
            String headStart = matcher.group(4);
            waiters.add(new Waiter(
                    Places.at(before),
                    ask,
                    OF_SEVERAL.equals(matcher.group(3)),
                    headStart == null ? 0 : Long.parseLong(headStart, RADIX)));
        }
        return waiters;
    }
}
