package io.dbsemaphore.maintenance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.persistence.unit.TimeOrderedIds;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import java.time.Duration;
import java.time.LocalDateTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the clean-up reads of requests that are younger than the retention: a busy database has millions of them. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
class CleanUpScanIntegrationTests {

    private static final int YOUNG = 10_000;
    private static final Duration AGE = Duration.ofHours(156); // half a day less than the retention

    @RegisterExtension
    static final Instances instances = new Instances(Instances.inBatchesOf(800));

    @Test
    void doesNotReadThem() {
        LocalDateTime then = Instances.ago(AGE);
        long first = TimeOrderedIds.upperBound(then, Duration.ZERO);
        instances.jdbc().update("""
                insert into permit_request (id, external_id, owner, state, content_digest, renewed_at, created_at, updated_at)
                with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < 999)
                select ? + a.n * 1000 + b.n, concat('young-', a.n * 1000 + b.n), 'test', 'RELEASED', 'none', ?, ?, ?
                from numbers a, numbers b where a.n < ?""", first, then, then, then, YOUNG / 1000);
        long before = rowsRead();

        int deleted = instances.first().maintenance().deleteReleasedRequests();

        assertThat(deleted).isZero();
        assertThat(rowsRead() - before).isLessThan(YOUNG / 10);
    }

    private static long rowsRead() {
        return instances.jdbc().queryForList("show global status like 'Handler_read%'").stream()
                .mapToLong(row -> Long.parseLong(String.valueOf(row.get("Value"))))
                .sum();
    }
}
