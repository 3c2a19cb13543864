package io.dbsemaphore.test;

import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;
import java.util.List;
import java.util.function.ToLongFunction;
import org.assertj.core.api.AbstractAssert;

/** Assertions about one semaphore. Each assertion reads the semaphore anew, and names the holders if it fails. */
public final class SemaphoreAssert extends AbstractAssert<SemaphoreAssert, String> {

    private final SemaphoreAdmin admin;

    SemaphoreAssert(SemaphoreAdmin admin, String name) {
        super(name, SemaphoreAssert.class);
        this.admin = admin;
    }

    /**
     * Asserts how many permits are held.
     *
     * @param permits the expected number
     * @return this assertion
     */
    public SemaphoreAssert hasHeld(long permits) {
        return has("held permits", permits, SemaphoreStatus::held);
    }

    /**
     * Asserts how many permits are not held.
     *
     * @param permits the expected number
     * @return this assertion
     */
    public SemaphoreAssert hasAvailable(long permits) {
        return has("available permits", permits, SemaphoreStatus::available);
    }

    /**
     * Asserts how many permits may be held at once.
     *
     * @param capacity the expected number
     * @return this assertion
     */
    public SemaphoreAssert hasCapacity(long capacity) {
        return has("permits in all", capacity, SemaphoreStatus::capacity);
    }

    /**
     * Asserts how many callers wait. Instances write their numbers to a database about three times a second.
     *
     * @param callers the expected number
     * @return this assertion
     */
    public SemaphoreAssert hasWaiting(long callers) {
        return has("waiting callers", callers, SemaphoreStatus::waiting);
    }

    /**
     * Asserts who holds permits.
     *
     * @param owners the expected owners, one for each grant, in any order
     * @return this assertion
     */
    public SemaphoreAssert isHeldBy(String... owners) {
        List<String> found =
                admin.holders(actual).stream().map(PermitHolder::owner).sorted().toList();
        if (!found.equals(List.of(owners).stream().sorted().toList())) {
            failWithMessage("Expected semaphore '%s' to be held by %s, but %s", actual, List.of(owners), holders());
        }
        return this;
    }

    private SemaphoreAssert has(String what, long expected, ToLongFunction<SemaphoreStatus> value) {
        long found = admin.find(actual).map(value::applyAsLong).orElse(0L);
        if (found != expected) {
            failWithMessage(
                    "Expected semaphore '%s' to have %d %s, but it has %d: %s",
                    actual, expected, what, found, holders());
        }
        return this;
    }

    private String holders() {
        List<PermitHolder> holders = admin.holders(actual);
        return holders.isEmpty() ? "nobody holds a permit" : "it is held by " + HeldPermits.describe(holders);
    }
}
