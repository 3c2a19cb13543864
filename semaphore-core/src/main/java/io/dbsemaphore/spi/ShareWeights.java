package io.dbsemaphore.spi;

import io.dbsemaphore.AcquireRequest;

/**
 * Gives the weights of shares, from data of the application such as the plan of a tenant: a tenant of weight 2 gets twice as many permits as
 * one of weight 1 while both wait ({@link AcquireRequest#withShare}). Declare one as a bean. An application without the starter passes it to
 * its {@code SemaphoreEngine}. Default: the weights of {@code semaphore.semaphores.<name>.weights}, and 1 for all other shares.
 *
 * <p><b>The same in all instances.</b> Instances that are given different weights order their callers differently: permits may then stay
 * available while callers wait for them. A changed weight takes effect within about 10 seconds.
 *
 * <p><b>Precedence.</b> The weights of the configuration come first: the bean is not asked about a share that has one.
 *
 * <p><b>Threads.</b> Called on the threads of callers before they wait, and on threads of the library, by several threads at the same time.
 * Callers wait for the answer, so give it from memory: do not use a database, call another system, or acquire permits. A share that is in use
 * is asked about once in 10 seconds; the answer is kept meanwhile.
 *
 * <p><b>Failures.</b> If the bean throws an exception, or returns a number outside 1 to 1,000, the weight is 1. A warning is logged, at most
 * one an hour for each semaphore.
 */
@FunctionalInterface
public interface ShareWeights {

    /** The largest weight: 1,000. */
    int MAX_WEIGHT = 1_000;

    /**
     * Returns the weight of a share. For the callers of {@code acme/batch}, it is asked about {@code acme}, whose weight counts among the
     * tenants, and about {@code acme/batch}, whose weight counts among the keys of {@code acme}.
     *
     * @param semaphore the name of the semaphore
     * @param share the tenant, or the tenant, a {@code /} and the key
     * @return the weight, 1 to {@value #MAX_WEIGHT}
     */
    int weight(String semaphore, String share);
}
