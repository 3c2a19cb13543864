package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.PermitsExceedCapacityException;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.RequestConflictException;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.admin.SemaphoreInUseException;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A call that does not fit what is in the database gets an error that names it, and changes nothing. */
class RefusedCallIntegrationTests extends BadInputFixture {

    private static final Class<PermitsExceedCapacityException> EXCEEDS = PermitsExceedCapacityException.class;
    private static final Class<SemaphoreNotFoundException> NOT_FOUND = SemaphoreNotFoundException.class;
    private static final Class<RequestConflictException> CONFLICT = RequestConflictException.class;
    private static final Class<PermitLostException> LOST = PermitLostException.class;
    private static final Class<SemaphoreInUseException> IN_USE = SemaphoreInUseException.class;

    @ParameterizedTest
    @MethodSource
    void isRefusedWithoutAChange(BadCall bad) {
        assertRefused(bad);
    }

    static Stream<BadCall> isRefusedWithoutAChange() {
        AcquireRequest held = known().withExternalId(HELD);
        AcquireRequest released = known().withExternalId(RELEASED);
        return Stream.of(
                acquire(EXCEEDS, "more than the capacity", known().withPermits(KNOWN, 4), KNOWN, "3", "4"),
                acquire(EXCEEDS, "very much more", known().withPermits(KNOWN, Integer.MAX_VALUE), KNOWN, "2147483647"),
                acquire(EXCEEDS, "a name too often", AcquireRequest.of(KNOWN, KNOWN, KNOWN, KNOWN), KNOWN, "3", "4"),
                acquire(
                        NOT_FOUND,
                        "unknown",
                        AcquireRequest.of(KNOWN, "nowhere", "to be found"),
                        "nowhere",
                        "to be found"),
                acquire(NOT_FOUND, "another case", AcquireRequest.of("Known"), "Known"),
                acquire(RequestAlreadyReleasedException.class, "a released id", released, RELEASED),
                acquire(CONFLICT, "an id with other counts", held.withPermits(KNOWN, 2), HELD, KNOWN, "2"),
                acquire(CONFLICT, "a released id with other counts", released.withPermits(KNOWN, 2), RELEASED),
                new BadCall(LOST, "renewal of a released id", renewal(RELEASED), RELEASED),
                new BadCall(LOST, "renewal of an unknown id", renewal("unheard-of"), "unheard-of"),
                new BadCall(NOT_FOUND, "change of an unknown semaphore", change("nowhere"), "nowhere"),
                new BadCall(NOT_FOUND, "holders of one", node -> node.admin().holders("nowhere"), "nowhere"),
                new BadCall(
                        IN_USE,
                        "deletion while it is held",
                        node -> node.admin().delete(KNOWN),
                        KNOWN,
                        "1"));
    }

    private static BadCall acquire(
            Class<? extends Exception> type, String description, AcquireRequest request, String... messageParts) {
        return new BadCall(type, description, node -> node.semaphores().acquire(request), messageParts);
    }

    private static Consumer<Node> renewal(String externalId) {
        return node -> node.semaphores().renew(externalId, Duration.ofMinutes(1));
    }

    private static Consumer<Node> change(String name) {
        return node -> node.admin().setCapacity(name, 1, "me", "because");
    }

    @Test
    void changesNothingWhenASemaphoreExistsAlready() {
        Map<String, List<Map<String, Object>>> before = cluster.rows();

        assertThat(node.admin().create(KNOWN, 7)).isEqualTo(false);

        assertThat(cluster.rows()).isEqualTo(before);
    }
}
