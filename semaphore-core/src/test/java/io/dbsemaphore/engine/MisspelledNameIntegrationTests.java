package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An acquire of a name that does not exist tells which names do, and which of them is meant. */
class MisspelledNameIntegrationTests {

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final Node node = cluster.node(0);

    @BeforeEach
    void createSemaphores() {
        node.admin().create("backup", 1);
        node.admin().create("network", 1);
    }

    @Test
    void isCorrected() {
        assertThatExceptionOfType(SemaphoreNotFoundException.class)
                .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of("bakcup")))
                .withMessageContaining(
                        "There is no semaphore named 'bakcup'. Did you mean 'backup'? Nothing was acquired.")
                .withMessageContaining("There are 'backup', 'network'")
                .satisfies(unknown -> assertThat(unknown.names()).containsExactly("bakcup"));
    }

    @Test
    void isCorrectedWithoutAThreadThatWaits() {
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(() -> node.semaphores()
                        .acquireAsync(AcquireRequest.of("netwrok", "backup"))
                        .join())
                .havingCause()
                .isInstanceOf(SemaphoreNotFoundException.class)
                .withMessageContaining("Did you mean 'network'?");
    }

    @Test
    void isNotCorrectedToSomethingElse() {
        assertThatExceptionOfType(SemaphoreNotFoundException.class)
                .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of("reports")))
                .withMessageContaining("There are 'backup', 'network'")
                .withMessageNotContaining("Did you mean");
    }
}
