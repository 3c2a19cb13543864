package io.dbsemaphore.domain;

import io.dbsemaphore.line.OwnLines;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;

/**
 * The input of one transaction: the acquires to decide and the requests to release.
 *
 * @param acquires the acquires in the order in which they are decided; their external ids differ
 * @param awaited the names of the semaphores whose rows the transaction waits for if another one has locked them. It locks them first, in
 *     the order of their ids. An acquire that needs any other locked row is {@linkplain GrantOutcome.Postponed postponed}
 * @param releases the requests to release first, so that their permits are available to the acquires: the ids of each request's permits, by
 *     request id. Permits that another transaction has locked stay held, see {@link BatchResult#released}
 * @param queues the waiting callers that are not in the batch
 */
public record GrantBatch(
        List<AcquireState> acquires, Set<String> awaited, SortedMap<Long, List<Long>> releases, OwnLines queues) {}
