package io.dbsemaphore.samples.backup;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.annotation.Transactional;

/**
 * When each job was requested, started and ended: a table of the service's own, written by the jobs in short
 * transactions. It is independent of the semaphores, so it can show whether they keep the limits.
 *
 * <p>Each method may be repeated: a short outage of the database does not end a job.
 */
@Repository
@Transactional
@Retryable(
        includes = {DataAccessException.class, TransactionException.class},
        maxRetries = 5,
        delay = 200,
        multiplier = 2)
public class JobLog {

    private static final int RECENT = 100;

    private final JdbcClient jdbc;
    private final ThisInstance instance;

    JobLog(JdbcClient jdbc, ThisInstance instance) {
        this.jdbc = jdbc;
        this.instance = instance;
    }

    /** Enters a new job of this instance. */
    public void requested(Snapshot snapshot, JobKind kind) {
        try {
            jdbc.sql("""
                            insert into backup_job (id, kind, snapshot, instance, state, requested_at)
                            values (:id, :kind, :snapshot, :instance, 'WAITING', localtimestamp(6))
                            """)
                    .param("id", snapshot.jobId())
                    .param("kind", kind.name())
                    .param("snapshot", snapshot.name())
                    .param("instance", instance.id())
                    .update();
        } catch (DuplicateKeyException e) {
            // entered by an earlier try, whose answer was lost
        }
    }

    /** Enters that the job has its permits and begins. */
    public void started(String id) {
        jdbc.sql("""
                        update backup_job set state = 'RUNNING', started_at = localtimestamp(6)
                        where id = :id and started_at is null
                        """).param("id", id).update();
    }

    /** Enters that the job has ended or will never begin. Only the first call has an effect. */
    public void ended(String id, JobState outcome) {
        jdbc.sql("""
                        update backup_job set state = :state, ended_at = localtimestamp(6)
                        where id = :id and ended_at is null
                        """).param("id", id).param("state", outcome.name()).update();
    }

    /** One job. */
    @Transactional(readOnly = true)
    public Optional<Job> find(String id) {
        return jdbc.sql("select * from backup_job where id = :id")
                .param("id", id)
                .query(Job.class)
                .optional();
    }

    /** The latest jobs of all instances, newest first. */
    @Transactional(readOnly = true)
    public List<Job> recent() {
        return jdbc.sql("select * from backup_job order by requested_at desc, id limit :limit")
                .param("limit", RECENT)
                .query(Job.class)
                .list();
    }

    /** All jobs of these instances, in the order in which they were requested. */
    @Transactional(readOnly = true)
    public List<Job> ofInstances(Collection<String> instances) {
        return jdbc.sql("select * from backup_job where instance in (:instances) order by requested_at, id")
                .param("instances", instances)
                .query(Job.class)
                .list();
    }
}
