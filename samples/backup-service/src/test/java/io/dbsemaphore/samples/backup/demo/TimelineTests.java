package io.dbsemaphore.samples.backup.demo;

import static io.dbsemaphore.samples.backup.JobKind.BACKUP;
import static io.dbsemaphore.samples.backup.JobKind.REPLICATION;
import static io.dbsemaphore.samples.backup.demo.Runs.at;
import static io.dbsemaphore.samples.backup.demo.Runs.done;
import static io.dbsemaphore.samples.backup.demo.Runs.finished;
import static io.dbsemaphore.samples.backup.demo.Runs.run;
import static io.dbsemaphore.samples.backup.demo.Runs.running;
import static io.dbsemaphore.samples.backup.demo.Runs.waiting;
import static io.dbsemaphore.samples.backup.demo.Runs.working;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.dbsemaphore.samples.backup.demo.Timeline.Change;
import io.dbsemaphore.samples.backup.demo.Timeline.Moment;
import io.dbsemaphore.samples.backup.demo.Verdict.Limits;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimelineTests {

    @Test
    void countsJobsOfAllInstances() {
        Run run = run(
                9,
                List.of(finished("a", 8), finished("b", 8)),
                done("a", BACKUP, 1, 4),
                done("b", BACKUP, 2, 5),
                done("b", REPLICATION, 3, 6));
        assertThat(new Timeline(run).moments())
                .extracting(Moment::at, Moment::change, Moment::backups, Moment::transfers, Moment::sameInstance)
                .containsExactly(
                        tuple(at(1), Change.STARTED, 1, 1, 1),
                        tuple(at(2), Change.STARTED, 2, 2, 1),
                        tuple(at(3), Change.STARTED, 2, 3, 2),
                        tuple(at(4), Change.DONE, 1, 2, 0),
                        tuple(at(5), Change.DONE, 0, 1, 1),
                        tuple(at(6), Change.DONE, 0, 0, 0));
    }

    @Test
    void findsPeaks() {
        Timeline timeline = new Timeline(run(
                9,
                List.of(finished("a", 8)),
                done("a", BACKUP, 1, 4),
                done("a", BACKUP, 2, 5),
                done("a", REPLICATION, 3, 6),
                done("a", REPLICATION, 7, 8)));
        assertThat(timeline.peakOfBackups()).isEqualTo(2);
        assertThat(timeline.peakOfTransfers()).isEqualTo(3);
    }

    @Test
    void countsJobThatEndsWhenAnotherStartsOnce() {
        Run run = run(9, List.of(finished("a", 8)), done("a", BACKUP, 4, 6), done("a", BACKUP, 1, 4));
        assertThat(new Timeline(run).peakOfBackups()).isEqualTo(1);
    }

    @Test
    void countsRunningJobOfLivingInstance() {
        Run run = run(9, List.of(working("a", 8)), running("a", BACKUP, 1), done("a", BACKUP, 7, 8));
        assertThat(new Timeline(run).peakOfBackups()).isEqualTo(2);
    }

    @Test
    void countsRunningJobOfKilledInstanceUpToItsLastHeartbeat() {
        Run run = run(
                30,
                List.of(working("a", 5), working("b", 29)),
                running("a", BACKUP, 1),
                waiting("a", BACKUP),
                done("b", BACKUP, 4, 8),
                done("b", BACKUP, 7, 9));
        assertThat(new Timeline(run).moments())
                .extracting(Moment::at, Moment::change, Moment::backups)
                .contains(
                        tuple(at(4), Change.STARTED, 2), tuple(at(5), Change.LOST, 1), tuple(at(7), Change.STARTED, 2));
    }

    @Test
    void countsJobThatStartedAfterTheLastHeartbeatOfItsInstanceAtThatInstantOnly() {
        Run run = run(
                30,
                List.of(working("a", 5), working("b", 29)),
                running("a", BACKUP, 6),
                running("a", REPLICATION, 6),
                done("b", BACKUP, 25, 28));
        Timeline timeline = new Timeline(run);
        assertThat(timeline.moments())
                .extracting(Moment::at, Moment::change, Moment::backups, Moment::transfers)
                .containsExactly(
                        tuple(at(6), Change.STARTED, 1, 1),
                        tuple(at(6), Change.STARTED, 1, 2),
                        tuple(at(6), Change.LOST, 0, 1),
                        tuple(at(6), Change.LOST, 0, 0),
                        tuple(at(25), Change.STARTED, 1, 1),
                        tuple(at(28), Change.DONE, 0, 0));
        assertThat(Verdict.of(run, new Limits(1, 2), true)).isEqualTo(Verdict.LIMITS_HELD);
    }

    @Test
    void breaksLimitsWhereTooManyRan() {
        Run run = run(9, List.of(finished("a", 8)), done("a", BACKUP, 1, 4), done("a", BACKUP, 2, 5));
        assertThat(Verdict.of(run, new Limits(2, 2), true)).isEqualTo(Verdict.LIMITS_HELD);
        assertThat(Verdict.of(run, new Limits(1, 2), true)).isEqualTo(Verdict.LIMITS_BROKEN);
        assertThat(Verdict.of(run, new Limits(2, 1), true)).isEqualTo(Verdict.LIMITS_BROKEN);
        assertThat(Verdict.of(run, new Limits(2, 2), false)).isEqualTo(Verdict.INCOMPLETE);
    }
}
