package io.dbsemaphore.samples.backup.demo;

import static io.dbsemaphore.samples.backup.JobKind.BACKUP;
import static io.dbsemaphore.samples.backup.demo.Runs.at;
import static io.dbsemaphore.samples.backup.demo.Runs.finished;
import static io.dbsemaphore.samples.backup.demo.Runs.run;
import static io.dbsemaphore.samples.backup.demo.Runs.waiting;
import static io.dbsemaphore.samples.backup.demo.Runs.working;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RunTests {

    @Test
    void isOverWhenAllInstancesHaveFinished() {
        assertThat(run(9, List.of(finished("a", 8), working("b", 9))).isOver())
                .as("over while b works")
                .isFalse();
        assertThat(run(9, List.of(finished("a", 8), finished("b", 9))).isOver())
                .as("over when both have finished")
                .isTrue();
    }

    @Test
    void doesNotWaitForKilledInstance() {
        Run run = run(20, List.of(finished("a", 8), working("b", 9)), waiting("b", BACKUP));
        assertThat(run.isOver()).as("over when b is silent for 11 seconds").isTrue();
        assertThat(run.lost()).isEqualTo(1);
    }

    @Test
    void isKnownAsFarAsTheInstanceThatWasSilentLongest() {
        assertThat(run(9, List.of(finished("a", 2), working("b", 7), working("c", 9)))
                        .knownUntil())
                .isBetween(at(6), at(7));
        assertThat(run(30, List.of(finished("a", 2), working("b", 7), working("c", 29)))
                        .knownUntil())
                .isBetween(at(28), at(29));
    }
}
