package com.example;

/** What each application does with its own tables, be it by JPA or JDBC, and under a permit of {@code orders}. */
public interface Bookkeeping {

    /** In a transaction. */
    void book(long id);

    /**
     * In a transaction, under a permit.
     *
     * @return whether there was a permit
     */
    boolean bookUnderPermit(long id);

    /** In a transaction that is rolled back by an {@link IllegalStateException}. */
    void bookAndFail(long id);

    boolean isBooked(long id);
}
