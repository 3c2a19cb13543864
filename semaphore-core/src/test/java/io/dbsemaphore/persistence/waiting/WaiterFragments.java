package io.dbsemaphore.persistence.waiting;

import io.dbsemaphore.persistence.unit.Sql;
import org.springframework.data.repository.core.support.RepositoryComposition.RepositoryFragments;

/** What the repository of waiting callers consists of. */
public final class WaiterFragments {

    private WaiterFragments() {}

    public static RepositoryFragments of(Sql sql) {
        return RepositoryFragments.just(new WaiterStatementsImpl(sql, ""));
    }
}
