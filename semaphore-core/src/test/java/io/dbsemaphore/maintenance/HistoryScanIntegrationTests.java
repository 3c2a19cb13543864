package io.dbsemaphore.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.persistence.unit.TimeOrderedIds;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.time.LocalDateTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is read of a history that a busy database has millions of. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
class HistoryScanIntegrationTests {

    private static final int YOUNG = 10_000;
    private static final Duration AGE = Duration.ofHours(156); // half a day less than the retention

    @RegisterExtension
    static final Instances instances = new Instances(Instances.inBatchesOf(800));

    @Test
    void theCleanUpDoesNotReadRequestsYoungerThanTheRetention() {
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

    /** As for the audit of a name: the holder of an expired grant only wants to know whether it was taken away. */
    @Test
    void theEndOfAGrantDoesNotReadTheAuditOfItsSemaphore() {
        String name = instances.semaphore(1);
        instances.jdbc().update("""
                insert into capacity_change (id, semaphore_name, from_capacity, to_capacity, changed_by, reason, external_id, owner, permits, changed_at)
                with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < 999)
                select -1 - a.n * 1000 - b.n, ?, 1, 1, 'dbsemaphore', 'test', concat('old-', a.n * 1000 + b.n), 'test', 1, ?
                from numbers a, numbers b where a.n < ?""", name, Instances.ago(AGE), YOUNG / 1000);
        Node holder = instances.first();
        PermitGrant grant = holder.semaphores()
                .acquire(AcquireRequest.of(name).withTtl(Duration.ofSeconds(5)).withKeepAlive(false));
        holder.gate().clear();
        long before = rowsRead();
        assertThat(instances.second().semaphores().release(grant.externalId())).isEqualTo(ReleaseOutcome.RELEASED);

        await().atMost(Instances.SOON).until(() -> holder.gate().count("capacity_change") > 0);
        await().during(Duration.ofMillis(500))
                .until(() -> holder.events().of("lost").isEmpty());

        assertThat(rowsRead() - before).isLessThan(YOUNG / 10);
    }

    /** MariaDB also counts the index entries that the storage engine has rejected. */
    private static long rowsRead() {
        return instances
                .jdbc()
                .queryForList(
                        "show global status where variable_name like 'Handler_read%' or variable_name = 'Handler_icp_attempts'")
                .stream()
                .mapToLong(row -> Long.parseLong(String.valueOf(row.get("Value"))))
                .sum();
    }
}
