package io.dbsemaphore.samples.backup;

import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;

import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.mockito.InOrder;

class TransferTests {

    private final JobLog jobs = mock();
    private final Transfer transfer = new Transfer(jobs, new TransferProperties(Duration.ofMillis(1), 3, 3));
    private final Snapshot snapshot = new Snapshot("1", "orders");

    @Test
    void logsStartAndEnd() {
        transfer.copy(snapshot, () -> true);
        assertLogged(JobState.DONE);
    }

    @Test
    void stopsWhenPermitsAreLost() {
        Iterator<Boolean> permitted = List.of(true, false).iterator();
        assertThatIllegalStateException()
                .isThrownBy(() -> transfer.copy(snapshot, permitted::next))
                .withMessageContaining("2 blocks were not copied");
        assertLogged(JobState.FAILED);
    }

    private void assertLogged(JobState outcome) {
        InOrder order = inOrder(jobs);
        order.verify(jobs).started("1");
        order.verify(jobs).ended("1", outcome);
        order.verifyNoMoreInteractions();
    }
}
