package io.dbsemaphore.boot.page;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.TestDatabase;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;

/** Semaphores in every state, and a past: two backups at a time for a quarter of an hour. */
final class Scene {

    private final OrdersHost host;
    private final TestDatabase.Schema database;

    private Scene(OrdersHost host, TestDatabase.Schema database) {
        this.host = host;
        this.database = database;
    }

    static void prepare(OrdersHost host, TestDatabase.Schema database) {
        new Scene(host, database).prepare();
    }

    private void prepare() {
        host.admin().create("backup", 3);
        List<String> owners =
                List.of("backup-service@app-1:4711", "backup-service@app-2:4712", "nightly-job 2026-11-22", "restore");
        for (int i = 0; i < 30; i++) {
            PermitGrant past = hold("backup", 1, owners.get(i * 7 % 4));
            past.release();
            int begun = 15 * 60 - i * 28;
            date(past, begun, begun - 20 - i * 13 % 35);
        }
        date(hold("backup", 1, "restore of customer 4711"), 400, 0);
        date(hold("backup", 1, "backup-service@app-2:4712"), 45, 0);
        host.semaphores().acquire(AcquireRequest.of("backup").withKeepAlive(true));
        host.admin().create("network", 40);
        hold("network", 17, "replication");
        host.admin().create("mail", 8);
        hold("mail", 6, "newsletter");
        host.admin().setCapacity("mail", 4, "ada", "The provider allows four connections now");
        host.admin().create("report", 2);
        host.admin().setCapacity("report", 0, "grace", "Month-end closing");
        host.admin().create("partner-api", 500);
        hold("partner-api", 123, "checkout@app-1:4711");
        host.admin().create("نسخ احتياطي", 5);
        hold("نسخ احتياطي", 2, "مهمة");
        host.admin()
                .create(
                        "tenant/with a rather long name that somebody generated: 3f0c2b4e-6f1c-4bfa-bb50-0d4dc8c5a1ce",
                        1);
    }

    private PermitGrant hold(String name, int permits, String owner) {
        return host.semaphores()
                .acquire(AcquireRequest.of(name)
                        .withPermits(name, permits)
                        .withOwner(owner)
                        .withTtl(Duration.ofHours(2)));
    }

    private void date(PermitGrant grant, int acquiredSecondsAgo, int changedSecondsAgo) {
        LocalDateTime now = LocalDateTime.ofInstant(host.admin().now(), ZoneOffset.UTC);
        database.jdbc()
                .update(
                        "update permit_request set created_at = ?, updated_at = ? where external_id = ?",
                        now.minusSeconds(acquiredSecondsAgo),
                        now.minusSeconds(changedSecondsAgo),
                        grant.externalId());
    }
}
