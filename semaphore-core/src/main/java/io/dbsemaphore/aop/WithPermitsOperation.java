package io.dbsemaphore.aop;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an annotation asks for, parsed: placeholders resolved, expressions compiled, durations read.
 *
 * @param annotated where it was asked for
 * @param claims what is to be acquired, in the order of the annotation
 * @param exclusive whether the whole capacity is
 * @param ttl the time to live, where one was given
 * @param waitTime how long to wait, zero where nothing was said
 * @param maxHold the maximum hold, where one was given
 * @param owner the owner, where one was given
 * @param keepAlive whether the grant is renewed
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

    /** Whether every call asks for the same. */
    boolean isConstant() {
        return claims.stream().allMatch(claim -> claim.name().isLiteral()) && (owner == null || owner.isLiteral());
    }

    /**
     * A number of permits of one semaphore.
     *
     * @param name the name
     * @param count how many permits
     */
    record Claim(TextTemplate name, int count) {}
}
