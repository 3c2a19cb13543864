package io.dbsemaphore.boot.actuate;

import static io.dbsemaphore.boot.actuate.Answer.delete;
import static io.dbsemaphore.boot.actuate.Answer.get;
import static io.dbsemaphore.boot.actuate.Answer.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Over HTTP, on a web application with a real database. */
@ExtendWith(OutputCaptureExtension.class)
class SemaphoresEndpointIntegrationTests {

    private static final String EXPOSED = "management.endpoints.web.exposure.include=semaphores";

    private static TestDatabase.Schema database;
    private static OrdersHost readOnly;
    private static OrdersHost writable;

    @BeforeAll
    static void start() {
        database = TestDatabase.create();
        readOnly = OrdersHost.web(database, EXPOSED);
        writable = OrdersHost.web(
                database,
                Principals.class,
                EXPOSED,
                "management.endpoint.semaphores.set-capacity-enabled=true",
                "management.endpoint.semaphores.force-release-enabled=true");
    }

    @AfterAll
    static void stop() {
        writable.close();
        readOnly.close();
        database.close();
    }

    @Test
    void listsTheSemaphores() {
        try (PermitGrant grant = readOnly.semaphores().acquire(AcquireRequest.of("orders"))) {
            Answer answer = get(readOnly, "");

            assertThat(answer.status()).isEqualTo(200);
            answer.json()
                    .extractingPath("$.semaphores[?(@.name=='orders')].held")
                    .isEqualTo(List.of(1));
            answer.json()
                    .extractingPath("$.semaphores[?(@.name=='orders')].capacity")
                    .isEqualTo(List.of(1));
        }
    }

    @Test
    void listsAPageOfTheSemaphores() {
        IntStream.range(0, 5).forEach(i -> readOnly.admin().create("Page-" + i, i));

        Answer first = get(readOnly, "?containing=page-&limit=2");
        Answer second = get(readOnly, "?containing=page-&limit=2&after=Page-1");
        Answer last = get(readOnly, "?containing=page-&limit=2&after=Page-2");

        first.json().extractingPath("$.semaphores[*].name").isEqualTo(List.of("Page-0", "Page-1"));
        first.json().extractingPath("$.truncated").isEqualTo(true);
        second.json().extractingPath("$.semaphores[*].name").isEqualTo(List.of("Page-2", "Page-3"));
        second.json().extractingPath("$.truncated").isEqualTo(true);
        last.json().extractingPath("$.semaphores[*].name").isEqualTo(List.of("Page-3", "Page-4"));
        last.json().extractingPath("$.truncated").isEqualTo(false);
        get(readOnly, "?limit=10001").assertProblem(400, "The limit must be between 1 and 10000: 10001");
    }

    @Test
    void tellsSinceWhenASemaphoreIsHeldOrWhatItsCapacityWasBeforeAPause() {
        readOnly.admin().create("since-held", 2);
        readOnly.admin().create("since-paused", 7);
        readOnly.admin().setCapacity("since-paused", 0, "ada", "closing");
        try (PermitGrant grant = readOnly.semaphores().acquire(AcquireRequest.of("since-held"))) {
            Answer answer = get(readOnly, "?containing=since-");

            answer.json()
                    .extractingPath("$.semaphores[0].heldSince")
                    .isEqualTo(readOnly.admin()
                            .holders("since-held")
                            .get(0)
                            .acquiredAt()
                            .toString());
            answer.json().doesNotHavePath("$.semaphores[1].heldSince");
            answer.json().doesNotHavePath("$.semaphores[0].pausedCapacity");
            answer.json().extractingPath("$.semaphores[1].pausedCapacity").isEqualTo(7);
            answer.json().extractingPath("$.granted").asNumber().isNotEqualTo(0);
        }
    }

    @Test
    void showsWhatWasHeldInAPeriod() {
        readOnly.admin().create("history-of-it", 1);
        readOnly.semaphores().acquire(AcquireRequest.of("history-of-it")).release();
        try (PermitGrant grant = readOnly.semaphores().acquire(AcquireRequest.of("history-of-it"))) {
            Answer answer = get(readOnly, "/history-of-it/history?period=5m");

            answer.json().extractingPath("$.granted").isEqualTo(2);
            answer.json().extractingPath("$.steps[0].held").isEqualTo(0);
            answer.json().extractingPath("$.steps[-1:].held").isEqualTo(List.of(1));
            answer.json().hasPath("$.fullSince");
            grant.release();
            get(readOnly, "/history-of-it/history?period=5m").json().doesNotHavePath("$.fullSince");
        }
    }

    @Test
    void listsAThousandSemaphoresUnlessItIsAskedForMore() {
        try (TestDatabase.Schema many = TestDatabase.create();
                OrdersHost host = OrdersHost.web(many, EXPOSED)) {
            IntStream.range(0, 1000).forEach(i -> host.admin().create("n-" + i, 1));

            get(host, "").json().extractingPath("$.semaphores.length()").isEqualTo(1000);
            get(host, "").json().extractingPath("$.truncated").isEqualTo(true);
            get(host, "?limit=1001")
                    .json()
                    .extractingPath("$.semaphores.length()")
                    .isEqualTo(1001);
            get(host, "?limit=1001").json().extractingPath("$.truncated").isEqualTo(false);
        }
    }

    @Test
    void showsOneWithItsHolders() {
        AcquireRequest request = AcquireRequest.of("orders")
                .withOwner("job-7")
                .withLabel("Orders.ship")
                .withTtl(Duration.ofMinutes(10));
        try (PermitGrant grant = readOnly.semaphores().acquire(request)) {
            Answer answer = get(readOnly, "/orders");

            assertThat(answer.status()).isEqualTo(200);
            answer.json().extractingPath("$.semaphore.available").isEqualTo(0);
            answer.json().extractingPath("$.holders[0].owner").isEqualTo("job-7");
            answer.json().extractingPath("$.holders[0].label").isEqualTo("Orders.ship");
            answer.json().extractingPath("$.holders[0].externalId").isEqualTo(grant.externalId());
            answer.json().extractingPath("$.holders[0].expiresAt").isNotNull();
        }
    }

    @Test
    void doesNotKnowWhatIsNotThere() {
        get(readOnly, "/nothing").assertProblem(404, "There is no semaphore named 'nothing'");
    }

    @Test
    void showsTheInstanceOfAHolder() {
        AcquireRequest request = AcquireRequest.of("orders").withKeepAlive(true);
        try (PermitGrant grant = readOnly.semaphores().acquire(request)) {
            Answer answer = get(readOnly, "/orders");

            answer.json().extractingPath("$.holders[0].externalId").isEqualTo(grant.externalId());
            answer.json().extractingPath("$.holders[0].instance.alive").isEqualTo(true);
            answer.json().extractingPath("$.holders[0].instance.name").isEqualTo(grant.owner());
            answer.json().extractingPath("$.holders[0].instance.id").isInstanceOf(String.class);
            answer.json().extractingPath("$.holders[0].instance.heartbeatAt").isNotNull();
        }
    }

    /** Spring Boot's property is above the switches of the library. */
    @ParameterizedTest
    @CsvSource({"read-only,200,405", "none,404,404"})
    void keepsToTheAccessThatSpringBootAllows(String access, int reading, int writing, CapturedOutput output) {
        try (OrdersHost host = OrdersHost.web(
                database,
                EXPOSED,
                "management.endpoint.semaphores.access=" + access,
                "management.endpoint.semaphores.set-capacity-enabled=true")) {
            assertThat(get(host, "/orders").status()).isEqualTo(reading);
            assertThat(post(host, "/orders", "{\"capacity\": 9}", null).status())
                    .isEqualTo(writing);
            assertThat(host.admin().find("orders").orElseThrow().capacity()).isEqualTo(1);
        }
        if (access.equals("read-only")) {
            assertThat(output).contains("have no effect: the access to the endpoint is READ_ONLY");
        }
    }

    @Test
    void isNotThereUnlessTheApplicationExposesIt() {
        try (OrdersHost unexposed = OrdersHost.web(database)) {
            assertThat(get(unexposed, "").status()).isEqualTo(404);
            assertThat(unexposed.context().getBeanNamesForType(SemaphoresEndpoint.class))
                    .isEmpty();
        }
    }

    @Test
    void refusesToSetACapacityByDefault() {
        Answer answer = post(readOnly, "/orders", "{\"capacity\": 9, \"reason\": \"noon\"}", null);

        answer.assertProblem(403, "management.endpoint.semaphores.set-capacity-enabled=true");
        assertThat(readOnly.admin().find("orders").orElseThrow().capacity()).isEqualTo(1);
    }

    @Test
    void refusesToForceAReleaseByDefault() {
        try (PermitGrant grant = readOnly.semaphores().acquire(AcquireRequest.of("orders"))) {
            Answer answer = delete(readOnly, "/orders/" + grant.externalId() + "?reason=stuck", null);

            answer.assertProblem(403, "management.endpoint.semaphores.force-release-enabled=true");
            assertThat(readOnly.admin().holders("orders")).hasSize(1);
        }
    }

    @Test
    void setsACapacityInTheNameOfThePrincipal() {
        writable.admin().create("capacity", 1);

        Answer answer = post(writable, "/capacity", "{\"capacity\": 9, \"reason\": \"noon\"}", "ada");

        assertThat(answer.status()).isEqualTo(200);
        answer.json().extractingPath("$.capacity").isEqualTo(9);
        assertThat(writable.admin().find("capacity").orElseThrow().capacity()).isEqualTo(9);
        assertThat(writable.admin().capacityHistory("capacity"))
                .extracting(CapacityChange::to, CapacityChange::changedBy, CapacityChange::reason)
                .containsExactly(tuple(9, "ada", "noon"));
    }

    @Test
    void refusesACapacityThatCannotBe() {
        post(writable, "/orders", "{\"capacity\": -1}", "ada").assertProblem(400, "must not be negative: -1");
        post(writable, "/orders", "{\"reason\": \"noon\"}", "ada").assertProblem(400, "must be a whole number");
        post(writable, "/orders", "{\"capacity\": \"many\"}", "ada").assertProblem(400, "2147483647: many.");
        post(writable, "/orders", "{\"capacity\": 2.5}", "ada").assertProblem(400, "2147483647: 2.5.");
        post(writable, "/nothing", "{\"capacity\": 1}", "ada")
                .assertProblem(404, "There is no semaphore named 'nothing'. Nothing was changed.");
    }

    @Test
    void forcesAReleaseInTheNameOfThePrincipal() {
        writable.admin().create("forced", 1);
        PermitGrant grant = writable.semaphores().acquire(AcquireRequest.of("forced"));

        Answer answer = delete(writable, "/forced/" + grant.externalId() + "?reason=stuck", "ada");

        assertThat(answer.status()).isEqualTo(200);
        answer.json().extractingPath("$.outcome").isEqualTo("RELEASED");
        assertThat(writable.admin().holders("forced")).isEmpty();
        assertThat(writable.admin().capacityHistory("forced")).singleElement().satisfies(change -> {
            assertThat(change.changedBy()).isEqualTo("ada");
            assertThat(change.reason()).isEqualTo("stuck");
            assertThat(change.forcedRelease().orElseThrow().externalId()).isEqualTo(grant.externalId());
        });
        Answer details = get(writable, "/forced");
        details.json()
                .extractingPath("$.capacityHistory[0].forcedRelease.permits")
                .isEqualTo(1);
        details.json().doesNotHavePath("$.capacityHistory[0].from");
    }

    /** Whose external ids contain the one that is meant. */
    @Test
    void forcesAReleaseBehindMoreHoldersThanAPageHas() {
        int others = SemaphoreAdmin.MAX_LIMIT;
        writable.admin().create("many", others + 1);
        CompletableFuture.allOf(IntStream.range(0, others)
                        .mapToObj(i -> writable.semaphores()
                                .acquireAsync(AcquireRequest.of("many")
                                        .withExternalId("job-" + i)
                                        .withWaitTime(Duration.ofMinutes(1))))
                        .toArray(CompletableFuture[]::new))
                .join();
        PermitGrant grant =
                writable.semaphores().acquire(AcquireRequest.of("many").withExternalId("job"));

        Answer answer = delete(writable, "/many/job?reason=stuck", "ada");

        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(writable.semaphores().find(grant.externalId())).isEmpty();
        delete(writable, "/many/ob", "ada").assertProblem(404, "holds no permit of semaphore 'many'");
    }

    @Test
    void forcesNothingOfAnotherSemaphore() {
        writable.admin().create("mine", 1);
        writable.admin().create("yours", 1);
        try (PermitGrant grant = writable.semaphores().acquire(AcquireRequest.of("yours"))) {
            delete(writable, "/mine/" + grant.externalId(), "ada")
                    .assertProblem(404, "holds no permit of semaphore 'mine'");
            delete(writable, "/nothing/" + grant.externalId(), "ada").assertProblem(404, "named 'nothing'");

            assertThat(writable.admin().holders("yours")).hasSize(1);
        }
    }
}
