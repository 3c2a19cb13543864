package io.dbsemaphore.engine;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.InstanceStatus;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreAdmin.PermitUse;
import io.dbsemaphore.admin.SemaphoreName;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.admin.SemaphoreStatus.ShareStatus;
import io.dbsemaphore.admin.SemaphoreStatus.Since;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingCaller;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The operations of administrators: each checks its input, and runs its transaction with retries, on the current run of the engine.
 *
 * @param current supplies the current run, or the last one
 */
record DatabaseSemaphoreAdmin(Supplier<Run> current, ListenerNotifier listeners) implements SemaphoreAdmin {

    private static final int MAX_REASON = 1000;

    /** Control characters, and halves of surrogate pairs, which no database can store. */
    private static final Pattern CONTROL_CHARACTERS = Pattern.compile("[\\p{Cc}\\p{Cs}]");

    private static final Pattern NEITHER_TAB_NOR_LINE = Pattern.compile("[\\p{Cc}\\p{Cs}&&[^\\t\\n\\r]]");

    @Override
    public boolean create(String name, int capacity) {
        SemaphoreName.requireValid(name);
        checkCapacity(name, capacity);
        // after a duplicate key the next attempt finds the row
        return run(database -> database.admin().create(name, capacity));
    }

    @Override
    public void setCapacity(String name, int capacity, String changedBy, String reason) {
        SemaphoreName.requireValid(name);
        checkCapacity(name, capacity);
        checkOperator("changedBy", changedBy);
        checkReason(reason);
        run(database -> {
            database.admin().setCapacity(name, capacity, changedBy, reason);
            return true;
        });
        current.get().commit.pollNow();
    }

    @Override
    public int setCapacityOfPattern(String pattern, int capacity, String changedBy, String reason) {
        checkCapacity(pattern, capacity);
        checkOperator("changedBy", changedBy);
        checkReason(reason);
        return current.get().patternCapacities.set(pattern, capacity, changedBy, reason);
    }

    @Override
    public OtherCapacities otherCapacities(String pattern, int capacity) {
        return current.get().patternCapacities.others(pattern, capacity);
    }

    @Override
    public boolean delete(String name) {
        return of(name, database -> database.admin().delete(name));
    }

    @Override
    public Optional<SemaphoreStatus> find(String name) {
        return of(name, database -> database.admin().find(name));
    }

    @Override
    public List<SemaphoreStatus> list() {
        return listed("", "", Integer.MAX_VALUE - 1);
    }

    @Override
    public List<SemaphoreStatus> list(String containing, String afterName, int limit) {
        checkSearch("containing", containing);
        checkSearch("afterName", afterName);
        checkLimit(limit);
        return listed(containing, afterName, limit);
    }

    /** Lists semaphores except that of the maintenance, for which it reads one more. */
    private List<SemaphoreStatus> listed(String containing, String afterName, int limit) {
        return run(database -> database.admin().list(containing, afterName, limit + 1)).stream()
                .filter(status -> !status.name().equals(DatabaseSemaphoreMaintenance.SEMAPHORE))
                .limit(limit)
                .toList();
    }

    @Override
    public List<Since> since(String containing, String afterName, int limit) {
        checkSearch("containing", containing);
        checkSearch("afterName", afterName);
        checkLimit(limit);
        return run(database -> database.admin().since(containing, afterName, limit + 1)).stream()
                .filter(since -> !since.name().equals(DatabaseSemaphoreMaintenance.SEMAPHORE))
                .limit(limit)
                .filter(since -> since.waitingSince().isPresent()
                        || since.heldSince().isPresent()
                        || since.pausedCapacity().isPresent())
                .toList();
    }

    @Override
    public int granted(Duration last) {
        if (last.isNegative() || last.compareTo(Duration.ofDays(1)) > 0) {
            throw new IllegalArgumentException("The time must be between 0 and a day: " + last);
        }
        return run(database -> database.admin().granted(last, MAX_LIMIT));
    }

    @Override
    public List<PermitHolder> holders(String name) {
        return of(name, database -> database.admin().holders(name, "", 0, Integer.MAX_VALUE));
    }

    @Override
    public List<PermitHolder> holders(String name, String containing, long afterToken, int limit) {
        SemaphoreName.requireValid(name);
        checkSearch("containing", containing);
        checkLimit(limit);
        return run(database -> database.admin().holders(name, containing, afterToken, limit));
    }

    @Override
    public List<WaitingInstance> waiting(String name) {
        return of(name, database -> database.admin().waiting(name));
    }

    @Override
    public List<WaitingCaller> waitingCallers(String name, int limit) {
        checkLimit(limit);
        return of(name, database -> database.admin().waitingCallers(name, limit));
    }

    @Override
    public List<ShareStatus> shares(String name, int limit) {
        checkLimit(limit);
        ToIntFunction<String> weights =
                share -> share.isEmpty() ? 1 : current.get().weights.applyAsInt(name, share);
        return of(name, database -> database.admin().shares(name, limit, weights));
    }

    @Override
    public List<PermitUse> requests(String name, Instant from, Instant to, int limit) {
        SemaphoreName.requireValid(name);
        checkLimit(limit);
        if (to.isBefore(from)) {
            throw new IllegalArgumentException(
                    "The period must not end before it begins: %s to %s".formatted(from, to));
        }
        return run(database -> database.admin().uses(name, from, to, limit));
    }

    @Override
    public List<InstanceStatus> instances() {
        return run(database -> database.admin().instances(MAX_LIMIT));
    }

    @Override
    public Instant now() {
        return run(database -> database.admin().now());
    }

    @Override
    public List<CapacityChange> capacityHistory(String name, int limit) {
        checkLimit(limit);
        return of(name, database -> database.admin().capacityHistory(name, limit));
    }

    @Override
    public List<CapacityChange> capacityHistory(String name) {
        return of(name, database -> database.admin().capacityHistory(name, Integer.MAX_VALUE));
    }

    @Override
    public List<Reclaim> reclaims(String name, int limit) {
        checkLimit(limit);
        return of(name, database -> database.admin().reclaims(name, limit));
    }

    @Override
    public ReleaseOutcome forceRelease(String externalId, String releasedBy, String reason) {
        SemaphoreName.requireValidKey("external id", externalId);
        checkOperator("releasedBy", releasedBy);
        checkReason(reason);
        Run run = current.get();
        ReleaseOutcome outcome = run.releases.forceRelease(
                externalId, () -> run.database.persistence().admin().forceRelease(externalId, releasedBy, reason));
        if (outcome == ReleaseOutcome.RELEASED) {
            listeners.tell(listener -> listener.forced(new SemaphoreListener.Forced(externalId, releasedBy, reason)));
        }
        return outcome;
    }

    private <T extends @Nullable Object> T of(String name, Function<SemaphorePersistence, T> transaction) {
        SemaphoreName.requireValid(name);
        return run(transaction);
    }

    private <T extends @Nullable Object> T run(Function<SemaphorePersistence, T> transaction) {
        Run run = current.get();
        return run.retry.call(() -> transaction.apply(run.database.persistence()));
    }

    private static void checkCapacity(String name, int capacity) {
        if (capacity < 0) {
            throw new IllegalArgumentException(
                    "The capacity of semaphore '%s' must not be negative: %d".formatted(name, capacity));
        }
    }

    private static void checkSearch(String what, String text) {
        refuseCharacters(what, Objects.requireNonNull(text, what), CONTROL_CHARACTERS, "no control characters");
    }

    private static void checkLimit(int limit) {
        if (limit < 1 || limit > MAX_LIMIT) {
            throw new IllegalArgumentException("The limit must be between 1 and %d: %d".formatted(MAX_LIMIT, limit));
        }
    }

    private static void checkOperator(String what, String operator) {
        checkText(what, operator, SemaphoreName.MAX_LENGTH);
        refuseCharacters(what, operator, CONTROL_CHARACTERS, "no control characters");
    }

    private static void checkReason(String reason) {
        checkText("reason", reason, MAX_REASON);
        refuseCharacters(
                "reason", reason, NEITHER_TAB_NOR_LINE, "no control characters except for tabs and line breaks");
    }

    /** Refuses characters that some databases cannot store, or that lists and logs cannot show. */
    private static void refuseCharacters(String what, String text, Pattern refused, String rule) {
        if (refused.matcher(text).find()) {
            throw new IllegalArgumentException("%s must have %s, and no half of a surrogate pair: '%s'"
                    .formatted(what, rule, beginningOf(refused.matcher(text).replaceAll("?"))));
        }
    }

    private static String beginningOf(String text) {
        return text.length() > 40 ? text.substring(0, 40) + "…" : text;
    }

    private static void checkText(String what, String text, int maxLength) {
        if (text == null || text.isBlank() || text.length() > maxLength) {
            throw new IllegalArgumentException("%s must have 1 to %d characters: '%s'"
                    .formatted(what, maxLength, text == null ? null : beginningOf(text)));
        }
    }
}
