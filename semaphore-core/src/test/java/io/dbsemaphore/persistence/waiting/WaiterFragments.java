package io.dbsemaphore.persistence.waiting;

import io.dbsemaphore.persistence.unit.RowInsert;
import io.dbsemaphore.persistence.unit.Sql;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.springframework.data.repository.core.support.RepositoryComposition.RepositoryFragments;

/** What the repository of waiting callers consists of. */
public final class WaiterFragments {

    private WaiterFragments() {}

    public static RepositoryFragments of(Sql sql, SessionFactoryImplementor mapping) {
        return RepositoryFragments.just(
                new WaiterStatementsImpl(sql, new RowInsert<>(mapping, SemaphoreWaiter.class, sql), ""));
    }
}
