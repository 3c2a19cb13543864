package io.dbsemaphore.aop;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A parsed annotation: placeholders are resolved, expressions and durations parsed.
 *
 * @param annotated the annotated method
 * @param claims the permits to acquire, in the order of the annotation
 * @param exclusive whether to acquire the whole capacity
 * @param ttl the time to live; null if none was set
 * @param waitTime the wait time; zero if none was set
 * @param maxHold the maximum hold; null if none was set
 * @param owner the owner; null if none was set
 * @param keepAlive whether the grant is kept alive
 */
record WithPermitsOperation(
        AnnotatedMethod annotated,
        List<Claim> claims,
        boolean exclusive,
        @Nullable Duration ttl,
        Duration waitTime,
        @Nullable Duration maxHold,
        @Nullable TextTemplate owner,
        boolean keepAlive) {

    WithPermitsOperation {
        claims = List.copyOf(claims);
    }

    /** Whether the request is the same for every call. */
    boolean isConstant() {
        return claims.stream().allMatch(claim -> claim.name().isLiteral()) && (owner == null || owner.isLiteral());
    }

    /**
     * A number of permits of one semaphore.
     *
     * @param name the name
     * @param count the number of permits
     */
    record Claim(TextTemplate name, int count) {}
}
