package io.dbsemaphore.boot.slices;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.engine.SemaphoreEngine;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpStatus;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

/** A slice without a database: methods run as under permits, and nothing counts them. */
@WebMvcTest
@DirtiesContext
@ExtendWith(OutputCaptureExtension.class)
class WebMvcSliceTests {

    private static final String UNCOUNTED = "a test slice has no semaphores";
    private static final Logger LIBRARY = (Logger) LoggerFactory.getLogger("io.dbsemaphore.boot.autoconfigure");

    @Autowired
    private MockMvcTester http;

    @Autowired
    private ApplicationContext context;

    @BeforeAll
    static void logInfo() {
        LIBRARY.setLevel(Level.INFO);
    }

    @AfterAll
    static void logAsBefore() {
        LIBRARY.setLevel(null);
    }

    @Test
    @DirtiesContext
    void runsUnderPermitsThatNobodyCounts(CapturedOutput output) {
        for (int i = 0; i < 3; i++) {
            assertThat(http.get().uri("/backup")).hasStatusOk().bodyText().isEqualTo("held true, one more true");
        }

        assertThat(context.getBeanNamesForType(SemaphoreEngine.class)).isEmpty();
        assertThat(output.getOut().lines().filter(line -> line.contains(UNCOUNTED)))
                .singleElement()
                .asString()
                .contains("INFO", "[backup]", "@SpringBootTest");
    }

    @Test
    void answersARefusedRequest() {
        assertThat(http.get().uri("/refused"))
                .hasStatus(HttpStatus.TOO_MANY_REQUESTS)
                .containsHeader("Retry-After");
    }

    @Test
    void stillFindsACallFromWithinTheSameObject() {
        assertThat(http.get().uri("/self-invocation"))
                .failure()
                .hasRootCauseInstanceOf(IllegalStateException.class)
                .rootCause()
                .hasMessageContaining("Call a @WithPermits method through its bean");
    }

    @Test
    void offersOperatorsADatabaseWithoutSemaphores() {
        assertThat(context.getBean(SemaphoreAdmin.class).list()).isEmpty();
    }

    @Nested
    class InANestedClass {

        @Test
        void runsUnderPermits() {
            assertThat(http.get().uri("/backup")).hasStatusOk();
        }
    }
}
