package io.dbsemaphore.aop;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A parsed annotation: placeholders are resolved, expressions and durations parsed. What was not set is null;
 * the wait time is then zero.
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

    /** A number of permits of one semaphore. */
    record Claim(TextTemplate name, int count) {}
}
