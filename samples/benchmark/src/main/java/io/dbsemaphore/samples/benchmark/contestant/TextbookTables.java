package io.dbsemaphore.samples.benchmark.contestant;

import io.dbsemaphore.samples.benchmark.database.Tables;
import java.util.List;

/** The tables of the textbook: semaphore, request and permit, and the indexes that its statements need. */
final class TextbookTables {

    static final String SEMAPHORE = Tables.PREFIX + "book_semaphore";
    static final String REQUEST = Tables.PREFIX + "book_request";
    static final String PERMIT = Tables.PREFIX + "book_permit";

    static final List<String> DDL = List.of(
            "create table %s (id bigint primary key, capacity int not null)".formatted(SEMAPHORE),
            """
            create table %s (
                id bigint primary key,
                external_id varchar(36) not null unique,
                owner varchar(64) not null,
                state varchar(16) not null,
                created_at timestamp(6) not null,
                updated_at timestamp(6) not null)""".formatted(REQUEST),
            """
            create table %s (
                id bigint primary key,
                semaphore_id bigint not null references %s (id),
                request_id bigint not null references %s (id),
                permits int not null,
                state varchar(16) not null)""".formatted(PERMIT, SEMAPHORE, REQUEST),
            "create index %1$s_held on %1$s (semaphore_id, state, permits)".formatted(PERMIT),
            "create index %1$s_request on %1$s (request_id)".formatted(PERMIT));

    private TextbookTables() {}
}
