package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dbsemaphore.Permits;
import io.dbsemaphore.annotation.WithPermits;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SelfInvocationTests {

    private final GuardedContext context = GuardedContext.of(Backup.class);

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void isNotGuardedButFound() {
        assertThatIllegalStateException()
                .isThrownBy(() -> context.bean(Backup.class).backUpAll())
                .withMessageContaining("does not run under a permit of semaphore 'backup'");
        assertThat(context.permits.requests).isEmpty();
    }

    @Test
    void passesTheAssertionThroughTheProxy() {
        assertThat(context.bean(Backup.class).backUp()).isEqualTo("done");
    }

    static class Backup {

        String backUpAll() {
            return backUp();
        }

        @WithPermits("backup")
        String backUp() {
            Permits.assertHeld("backup");
            return "done";
        }
    }
}
