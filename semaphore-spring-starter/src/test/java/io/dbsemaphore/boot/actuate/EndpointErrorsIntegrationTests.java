package io.dbsemaphore.boot.actuate;

import static io.dbsemaphore.boot.actuate.Answer.delete;
import static io.dbsemaphore.boot.actuate.Answer.get;
import static io.dbsemaphore.boot.actuate.Answer.post;
import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.TestDatabase;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** What the endpoint cannot use is refused with an explanation, in the same way on every database. */
class EndpointErrorsIntegrationTests {

    private static TestDatabase.Schema database;
    private static OrdersHost host;

    @BeforeAll
    static void start() {
        database = TestDatabase.create();
        host = OrdersHost.web(
                database,
                Principals.class,
                "management.endpoints.web.exposure.include=semaphores",
                "semaphore.jdbc.lock-wait-timeout=1s",
                "management.endpoint.semaphores.set-capacity-enabled=true",
                "management.endpoint.semaphores.force-release-enabled=true");
    }

    @AfterAll
    static void stop() {
        host.close();
        database.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-1000000000-01-01T00:00:00Z",
                "+1000000000-12-31T23:59:59Z",
                "+900000-12-31T23:59:59Z",
                "-0500-12-31T23:59:59Z",
                "1969-12-31T23:59:59Z",
                "9999-01-01T00:00:01Z",
                "noon"
            })
    void refusesAnEndThatNoDatabaseKnows(String until) {
        get(host, "/orders/requests?until=" + encoded(until)).assertProblem(400, "The parameter 'until'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1970-01-01T00:00:00Z", "9999-01-01T00:00:00Z"})
    void findsNothingAtTheEndsOfTime(String until) {
        Answer answer = get(host, "/orders/requests?period=366d&until=" + until);

        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        answer.json().extractingPath("$.to").isEqualTo(until);
    }

    @ParameterizedTest
    @ValueSource(strings = {"%00", "a%0Ab", "%7F", "%C2%85"})
    void refusesToSearchForControlCharacters(String containing) {
        get(host, "/orders?containing=" + containing).assertProblem(400, "containing must have no control characters");
        get(host, "?containing=" + containing).assertProblem(400, "containing must have no control characters");
        get(host, "?after=" + containing).assertProblem(400, "afterName must have no control characters");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\\u0000b", "\\u001b[2J", "\\ud800"})
    void refusesAReasonWithControlCharacters(String reason) {
        post(host, "", "{\"name\": \"orders\", \"capacity\": 3, \"reason\": \"%s\"}".formatted(reason), "ada")
                .assertProblem(400, "reason must have no control characters except for tabs and line breaks");
        assertThat(host.admin().find("orders").orElseThrow().capacity()).isEqualTo(1);
    }

    @Test
    void releasesNothingForAReasonWithControlCharacters() {
        host.admin().create("held", 1);
        try (PermitGrant grant = host.semaphores().acquire(AcquireRequest.of("held"))) {
            delete(host, "?name=held&reason=%00&externalId=" + grant.externalId(), "ada")
                    .assertProblem(400, "reason must have no control characters");

            assertThat(host.admin().holders("held")).hasSize(1);
        }
    }

    @Test
    void keepsTheLinesOfAReason() {
        host.admin().create("lines", 1);

        Answer answer = post(host, "/lines", "{\"capacity\": 2, \"reason\": \"noon:\\n\\ttwo servers\"}", "ada");

        assertThat(answer.status()).isEqualTo(200);
        assertThat(host.admin().capacityHistory("lines"))
                .extracting(CapacityChange::reason)
                .containsExactly("noon:\n\ttwo servers");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"capacity\": 1}", "{\"name\": null, \"capacity\": 1}", "{}"})
    void asksForTheNameOfASemaphore(String body) {
        post(host, "", body, null).assertProblem(400, "The parameter 'name' is missing. Nothing was changed.");
    }

    @Test
    void asksForTheRequestToRelease() {
        delete(host, "?name=orders", null).assertProblem(400, "The parameter 'externalId' is missing");
        delete(host, "?externalId=4711", null).assertProblem(400, "The parameter 'name' is missing");
        delete(host, "", null).assertProblem(400, "The parameter 'name' is missing");
        delete(host, "/orders", null).assertProblem(400, "The parameter 'externalId' is missing");
    }

    /** Only the operator can know that it is a transaction of the application that has to end. */
    @Test
    void saysThatATransactionOfTheApplicationKeepsARequestFromBeingReleased() {
        host.admin().create("checked", 1);
        try (PermitGrant grant = host.semaphores().acquire(AcquireRequest.of("checked"))) {
            new TransactionTemplate(host.bean(PlatformTransactionManager.class)).executeWithoutResult(transaction -> {
                host.semaphores().requireHeld(grant);

                delete(host, "?name=checked&externalId=" + grant.externalId(), "ada")
                        .assertProblem(409, "another transaction has locked it or its permits, as requireHeld does");
            });

            assertThat(host.admin().holders("checked")).hasSize(1);
        }
    }

    /** As the subject of an X.509 certificate can be. */
    @Test
    void keepsTheBeginningOfALongPrincipal() {
        host.admin().create("principal", 1);
        String subject = "CN=ada," + "OU=department,".repeat(20);

        Answer answer = post(host, "/principal", "{\"capacity\": 2}", subject);

        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(host.admin().capacityHistory("principal"))
                .extracting(CapacityChange::changedBy)
                .containsExactly(subject.substring(0, 189) + "…");
    }

    /** Spring Boot refuses it before it calls the endpoint, and docs/operators-page.md says so. */
    @ParameterizedTest
    @ValueSource(strings = {"nonsense", "[]", "{\"capacity\": {\"a\": 1}}"})
    void cannotExplainABodyThatIsNoObjectOfTexts(String body) {
        Answer answer = post(host, "", body, null);

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.contentType()).startsWith("application/json");
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
