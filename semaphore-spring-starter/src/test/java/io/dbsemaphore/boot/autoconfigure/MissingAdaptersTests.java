package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The property of an adapter whose module is missing is not ignored without a word. */
@ExtendWith(OutputCaptureExtension.class)
class MissingAdaptersTests {

    @Test
    void areToldWhereTheirPropertiesHaveNoEffect(CapturedOutput output) {
        Hosts.jdbc()
                .withPropertyValues(
                        "semaphore.adapters.shedlock.enabled=true",
                        "semaphore.adapters.spring-integration.enabled=false")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output.getOut().lines().filter(line -> line.contains("semaphore-adapters")))
                .singleElement()
                .asString()
                .contains("WARN", "semaphore.adapters.shedlock.enabled=true has no effect");
    }
}
