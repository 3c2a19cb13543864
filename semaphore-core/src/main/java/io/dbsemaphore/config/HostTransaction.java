package io.dbsemaphore.config;

/**
 * What becomes of an acquire within an open transaction of the application. That transaction has one connection of the
 * pool, and the acquire needs another: as many of them at once as the pool has connections wait for each other until the
 * pool gives up.
 */
public enum HostTransaction {

    /** It is done. */
    ALLOW,

    /** It is done; the first one is warned about. The default. */
    WARN,

    /** It is refused with an {@link org.springframework.transaction.IllegalTransactionStateException}. */
    REFUSE
}
