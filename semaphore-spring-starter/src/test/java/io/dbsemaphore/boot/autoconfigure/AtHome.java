package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.example.Bookkeeping;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import org.springframework.context.ApplicationContext;

/**
 * What holds in every host that has a semaphore {@code orders} of capacity 1: its own tables, repositories and
 * transactions work as if the starter were not there, and the semaphores work.
 */
public final class AtHome {

    private AtHome() {}

    public static void assertIn(ApplicationContext host) {
        assertThatTheHostWorks(host.getBean(Bookkeeping.class));
        assertThatSemaphoresWork(host);
    }

    private static void assertThatTheHostWorks(Bookkeeping books) {
        books.book(1);
        assertThatIllegalStateException().isThrownBy(() -> books.bookAndFail(2));

        assertThat(books.isBooked(1)).as("committed").isEqualTo(true);
        assertThat(books.isBooked(2)).as("rolled back").isEqualTo(false);
    }

    private static void assertThatSemaphoresWork(ApplicationContext host) {
        Bookkeeping books = host.getBean(Bookkeeping.class);
        SemaphoreTemplate semaphores = host.getBean(SemaphoreTemplate.class);
        SemaphoreAdmin admin = host.getBean(SemaphoreAdmin.class);

        try (PermitGrant grant = semaphores.acquire(AcquireRequest.of("orders"))) {
            assertThat(held(admin)).isEqualTo(1);
            assertThat(semaphores.tryAcquire(AcquireRequest.of("orders")))
                    .as("one more than the capacity")
                    .isEmpty();
            assertThatExceptionOfType(PermitsUnavailableException.class).isThrownBy(() -> books.bookUnderPermit(3));
            assertThat(books.isBooked(3)).as("booked without a permit").isEqualTo(false);
        }
        assertThat(held(admin)).isZero();

        assertThat(books.bookUnderPermit(3)).as("under a permit").isEqualTo(true);
        assertThat(books.isBooked(3)).as("booked under a permit").isEqualTo(true);
        assertThat(held(admin)).isZero();
    }

    private static long held(SemaphoreAdmin admin) {
        return admin.find("orders").orElseThrow().held();
    }
}
