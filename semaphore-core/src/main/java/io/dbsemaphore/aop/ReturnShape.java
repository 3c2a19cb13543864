package io.dbsemaphore.aop;

/** When the work of a method ends, depending on its return type. */
enum ReturnShape {

    /** When the method returns. */
    SYNCHRONOUS,

    /** When the future that it returned completes. */
    FUTURE,

    /** When a subscription to the publisher that it returned ends. */
    REACTIVE
}
