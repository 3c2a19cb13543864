package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class PoolSizeTests {

    @Test
    void warnsWhereTheLibraryMayTakeTheWholePool(CapturedOutput output) {
        Hosts.jdbc()
                .withPropertyValues("spring.datasource.hikari.maximum-pool-size=4")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains("WARN")
                .contains(
                        "has at most 4 connection(s), and semaphore.max-connections allows the library to use 4 of them")
                .contains("Raise spring.datasource.hikari.maximum-pool-size, or lower semaphore.max-connections");
    }

    @Test
    void doesNotWarnWhereTheApplicationKeepsAConnection(CapturedOutput output) {
        Hosts.jdbc()
                .withPropertyValues("spring.datasource.hikari.maximum-pool-size=3", "semaphore.max-connections=2")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("WARN");
    }
}
