package io.dbsemaphore.engine.hold;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;

/** Two nodes, a semaphore of one permit, and an empty table of the host. */
abstract class RequireHeldFixture {

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    final Node node = cluster.node(0);
    final Node other = cluster.node(1);
    final String name = cluster.semaphore(1);

    @BeforeEach
    void createBusinessTable() {
        JdbcTemplate jdbc = cluster.schema().jdbc();
        jdbc.execute("drop table if exists business");
        jdbc.execute("create table business (id int primary key)");
        other.gate().clear();
    }

    final PermitGrant acquire() {
        node.gate().clear();
        return node.semaphores().acquire(AcquireRequest.of(name));
    }

    final void requireHeldInTransaction(PermitGrant grant) {
        node.transaction().executeWithoutResult(status -> node.semaphores().requireHeld(grant));
    }

    final void doBusiness() {
        node.jdbc().update("insert into business (id) values (1)");
    }

    static int businessDone() {
        return cluster.schema().jdbc().queryForList("select id from business").size();
    }
}
