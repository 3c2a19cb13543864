package io.dbsemaphore.config;

/**
 * The action for an acquire within an open transaction of the application. The transaction occupies one connection of the
 * pool, and the acquire needs another. If as many threads do this at once as the pool has connections, they block each other
 * until the pool's connection timeout.
 */
public enum HostTransaction {

    /** Acquire. */
    ALLOW,

    /** Acquire, and log a warning for the first such acquire. The default. */
    WARN,

    /** Throw an {@link org.springframework.transaction.IllegalTransactionStateException}; nothing is acquired. */
    REFUSE
}
