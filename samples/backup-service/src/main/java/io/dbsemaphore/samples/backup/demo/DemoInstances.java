package io.dbsemaphore.samples.backup.demo;

import io.dbsemaphore.samples.backup.JobLog;
import io.dbsemaphore.samples.backup.ThisInstance;
import io.dbsemaphore.samples.backup.demo.Run.Participant;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.List;
import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/** The instances that run the demo. Those whose demos overlap in time take part in one run. */
@Repository
@Profile("demo")
class DemoInstances {

    private final JdbcClient jdbc;
    private final JobLog jobs;
    private final ThisInstance instance;
    private final Duration instanceTimeout;

    DemoInstances(JdbcClient jdbc, JobLog jobs, ThisInstance instance, DemoProperties properties) {
        this.jdbc = jdbc;
        this.jobs = jobs;
        this.instance = instance;
        this.instanceTimeout = properties.instanceTimeout();
    }

    void join() {
        jdbc.sql("""
                        insert into demo_instance (id, joined_at, seen_at)
                        values (:id, localtimestamp(6), localtimestamp(6))
                        """).param("id", instance.id()).update();
    }

    void finish() {
        jdbc.sql("update demo_instance set finished_at = localtimestamp(6) where id = :id and finished_at is null")
                .param("id", instance.id())
                .update();
    }

    /** Sends a heartbeat, and reads what all instances have done. */
    Run observe() {
        jdbc.sql("update demo_instance set seen_at = localtimestamp(6) where id = :id")
                .param("id", instance.id())
                .update();
        LocalDateTime now = jdbc.sql("select seen_at from demo_instance where id = :id")
                .param("id", instance.id())
                .query(LocalDateTime.class)
                .single();
        List<Participant> participants = participants();
        return new Run(
                now,
                instanceTimeout,
                participants,
                jobs.ofInstances(participants.stream().map(Participant::id).toList()));
    }

    private List<Participant> participants() {
        return jdbc.sql("""
                        select other.id, other.joined_at, other.seen_at, other.finished_at
                        from demo_instance this, demo_instance other
                        where this.id = :id and other.seen_at >= this.joined_at
                        and (other.finished_at is null or other.finished_at >= this.joined_at)
                        order by other.joined_at, other.id
                        """).param("id", instance.id()).query(Participant.class).list();
    }
}
