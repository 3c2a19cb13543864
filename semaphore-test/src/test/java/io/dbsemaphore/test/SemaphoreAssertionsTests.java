package io.dbsemaphore.test;

import static io.dbsemaphore.test.SemaphoreAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.junit.jupiter.api.Test;

/** An assertion that fails says what was expected, what was found, and who holds the permits. */
class SemaphoreAssertionsTests {

    private final InMemorySemaphores semaphores = InMemorySemaphores.of("backup", 3);

    @Test
    void succeed() {
        semaphores.acquire(AcquireRequest.of("backup", 2).withOwner("nightly"));

        assertThat(semaphores)
                .semaphore("backup")
                .hasHeld(2)
                .hasAvailable(1)
                .hasCapacity(3)
                .hasWaiting(0)
                .isHeldBy("nightly");
        assertThat(semaphores.admin()).semaphore("backup").hasHeld(2);
    }

    @Test
    void sayWhoHoldsThePermits() {
        semaphores.acquire(AcquireRequest.of("backup", 2)
                .withOwner("nightly")
                .withLabel("Backups.full")
                .withExternalId("job-7"));

        assertFails(() -> assertThat(semaphores).semaphore("backup").hasHeld(1))
                .withMessageContainingAll(
                        "Expected semaphore 'backup' to have 1 held permits, but it has 2",
                        "it is held by 2 permit(s) by owner 'nightly' for Backups.full since",
                        "external id job-7");
        assertFails(() -> assertThat(semaphores).semaphore("backup").isHeldBy("weekly"))
                .withMessageContainingAll("to be held by [weekly], but", "'nightly'");
        assertFails(() -> assertThat(semaphores).haveNoHolders())
                .withMessageContainingAll("semaphore 'backup': 2 permit(s)", "'nightly'");
    }

    @Test
    void sayThatNobodyDoes() {
        assertFails(() -> assertThat(semaphores).semaphore("backup").hasAvailable(1))
                .withMessage(
                        "Expected semaphore 'backup' to have 1 available permits, but it has 3: nobody holds a permit");
    }

    @Test
    void sayWhichSemaphoresThereAre() {
        assertFails(() -> assertThat(semaphores).semaphore("backups"))
                .withMessage("There is no semaphore 'backups'. There are [backup]");
    }

    @Test
    void refuseATemplateThatCannotBeRead() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> assertThat(new SemaphoreTemplate(semaphores.permitManager())))
                .withMessageContaining("SemaphoreAdmin");
    }

    private static ThrowableAssertAlternative<AssertionError> assertFails(ThrowingCallable assertion) {
        return assertThatExceptionOfType(AssertionError.class).isThrownBy(assertion);
    }
}
