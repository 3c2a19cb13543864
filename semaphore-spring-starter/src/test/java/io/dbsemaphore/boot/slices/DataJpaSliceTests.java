package io.dbsemaphore.boot.slices;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import io.dbsemaphore.engine.SemaphoreEngine;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.jpa.test.autoconfigure.DataJpaTest;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.NestedTestConfiguration;
import org.springframework.test.context.TestPropertySource;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** A slice with a database: the semaphores are not in it, unless the test imports them. */
class DataJpaSliceTests {

    private static final String UNLIMITED = "held true, one more true";
    private static final String LIMITED = "held true, one more false";
    private static final Logger LIBRARY = (Logger) LoggerFactory.getLogger("io.dbsemaphore.boot.autoconfigure");

    @BeforeAll
    static void logInfo() {
        LIBRARY.setLevel(Level.INFO);
    }

    @AfterAll
    static void logAsBefore() {
        LIBRARY.setLevel(null);
    }

    @Nested
    @NestedTestConfiguration(NestedTestConfiguration.EnclosingConfiguration.OVERRIDE)
    @DataJpaTest(properties = {"spring.liquibase.enabled=false", "spring.flyway.enabled=false"})
    @Import(Backups.Controller.class)
    @ExtendWith(OutputCaptureExtension.class)
    class Alone {

        @Autowired
        private Backups.Controller backups;

        @Autowired
        private ApplicationContext context;

        @Test
        void runsUnderPermitsThatNobodyCounts(CapturedOutput output) {
            assertThat(backups.backUp()).isEqualTo(UNLIMITED);
            assertThat(backups.backUp()).isEqualTo(UNLIMITED);

            assertThat(context.getBeanNamesForType(SemaphoreEngine.class)).isEmpty();
            assertThat(output.getOut().lines().filter(line -> line.contains("without being counted")))
                    .singleElement()
                    .asString()
                    .contains("INFO", "[backup]", "@SpringBootTest");
        }
    }

    @Nested
    @NestedTestConfiguration(NestedTestConfiguration.EnclosingConfiguration.OVERRIDE)
    @DataJpaTest(properties = {"spring.liquibase.enabled=false", "spring.flyway.enabled=false"})
    @ImportAutoConfiguration(SemaphoreAutoConfiguration.class)
    @TestPropertySource(properties = "semaphore.semaphores.backup.capacity=1")
    @Transactional(propagation = Propagation.NOT_SUPPORTED)
    @Import(Backups.Controller.class)
    class WithTheSemaphores {

        @Autowired
        private Backups.Controller backups;

        @Autowired
        private SemaphoreTemplate semaphores;

        @Test
        void enforcesTheLimit() {
            assertThat(backups.backUp()).isEqualTo(LIMITED);
            assertThat(semaphores.tryAcquire(AcquireRequest.of(Backups.NAME))).isPresent();
        }
    }

    @Nested
    @NestedTestConfiguration(NestedTestConfiguration.EnclosingConfiguration.OVERRIDE)
    @SpringBootTest(
            webEnvironment = SpringBootTest.WebEnvironment.NONE,
            properties = {
                "spring.liquibase.enabled=false",
                "spring.flyway.enabled=false",
                "semaphore.semaphores.backup.capacity=1"
            })
    class WholeApplication {

        @Autowired
        private Backups.Controller backups;

        @Test
        void enforcesTheLimit() {
            assertThat(backups.backUp()).isEqualTo(LIMITED);
        }
    }
}
