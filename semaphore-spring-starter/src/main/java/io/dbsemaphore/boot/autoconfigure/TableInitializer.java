package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.DatabaseNotWritableException;
import io.dbsemaphore.engine.DatabaseUnreachableException;
import io.dbsemaphore.engine.SchemaScript;
import io.dbsemaphore.jdbc.SqlErrors;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.util.ClassUtils;

/**
 * Creates the tables with the SQL script of the library if they are missing and {@code semaphore.jdbc.initialize-schema} allows it. It is
 * not a bean, so that it runs after all initializers of the application's database: one of them may create the tables.
 *
 * <p>Looks at the tables first: the script locks tables that other instances use, even if there is nothing to add.
 *
 * <p>A changelog that the application runs in the background, such as JHipster's {@code AsyncSpringLiquibase}, may create the tables
 * after its bean exists. The start then waits for them, and this class creates none.
 *
 * <p>A script that fails is run again: another instance may have created an object after the script had looked for it. The next attempt
 * finds that object, so an error that occurs twice in a row without a conflict is reported.
 */
final class TableInitializer {

    private static final Logger log = LoggerFactory.getLogger(TableInitializer.class);

    /** How long a failing script is repeated: any number of instances may start at the same time. */
    private static final Duration MAX_TIME = Duration.ofSeconds(30);

    private static final Duration MAX_PAUSE = Duration.ofMillis(500);

    private static final String LIQUIBASE = "liquibase.integration.spring.SpringLiquibase";
    private static final Duration DEFAULT_WAIT = Duration.ofMinutes(1);

    private TableInitializer() {}

    /**
     * @throws DatabaseNotWritableException if the database rejects writes
     * @throws DatabaseUnreachableException if the database cannot be reached
     * @throws SemaphoreConfigurationException if the script fails
     */
    static void run(SchemaScript script, DatabaseInitializationMode mode) {
        if (mode == DatabaseInitializationMode.NEVER
                || (mode == DatabaseInitializationMode.EMBEDDED
                        && !EmbeddedDatabaseConnection.isEmbedded(script.dataSource()))) {
            return;
        }
        long begin = System.nanoTime();
        @Nullable String failedBefore = null;
        for (int attempt = 1; script.isNeeded(); attempt++) {
            try {
                byte[] sql = script.sql().getBytes(StandardCharsets.UTF_8);
                ResourceDatabasePopulator populator =
                        new ResourceDatabasePopulator(new ByteArrayResource(sql, script.location()));
                populator.setSqlScriptEncoding(StandardCharsets.UTF_8.name());
                populator.execute(script.dataSource());
                log.info(
                        "Created the tables of the semaphores by {} (semaphore.jdbc.initialize-schema)",
                        script.location());
                return;
            } catch (DataAccessException failure) {
                if (System.nanoTime() - begin > MAX_TIME.toNanos()
                        || (!SqlErrors.isConflict(failure) && Objects.equals(failure.getMessage(), failedBefore))
                        || Thread.currentThread().isInterrupted()) {
                    throw explain(failure, script, mode);
                }
                if (attempt == 1) {
                    log.info(
                            "{} failed, and is retried for up to {} s, since other instances may create the same tables:"
                                    + " {}",
                            script.location(),
                            MAX_TIME.toSeconds(),
                            failure.getMessage());
                }
                failedBefore = SqlErrors.isConflict(failure) ? null : failure.getMessage();
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_PAUSE.toNanos()));
            }
        }
    }

    private static RuntimeException explain(
            DataAccessException failure, SchemaScript script, DatabaseInitializationMode mode) {
        return DatabaseNotWritableException.of(failure, "")
                .filter(refused -> refused.reason()
                        != DatabaseNotWritableException.Reason.DENIED) // here, the right to create tables
                .<RuntimeException>map(refused -> refused)
                .or(() -> DatabaseUnreachableException.of(script.dataSource(), failure))
                .orElseGet(() -> notCreated(failure, script, mode));
    }

    private static SemaphoreConfigurationException notCreated(
            DataAccessException failure, SchemaScript script, DatabaseInitializationMode mode) {
        SemaphoreConfigurationException explained = new SemaphoreConfigurationException(
                "The tables of the semaphores cannot be created by %s (semaphore.jdbc.initialize-schema=%s). The database reports: %s."
                        .formatted(
                                script.location(),
                                mode.name().toLowerCase(Locale.ROOT),
                                SqlErrors.root(failure)
                                        .map(Throwable::getMessage)
                                        .orElse(failure.getMessage())),
                "Grant the user the privileges for the script, such as CREATE, ALTER, INDEX and REFERENCES, or let a migration create"
                        + " the tables and set semaphore.jdbc.initialize-schema=never.");
        explained.initCause(failure);
        return explained;
    }

    /** How long to wait for the tables: as configured, else a minute if a changelog runs in the background. */
    static Duration timeToWait(@Nullable Duration configured, ListableBeanFactory beanFactory) {
        if (configured != null) {
            return configured;
        }
        return runsInBackground(beanFactory) ? DEFAULT_WAIT : Duration.ZERO;
    }

    private static boolean runsInBackground(ListableBeanFactory beanFactory) {
        ClassLoader classLoader = TableInitializer.class.getClassLoader();
        if (!ClassUtils.isPresent(LIQUIBASE, classLoader)) {
            return false;
        }
        Class<?> liquibase = ClassUtils.resolveClassName(LIQUIBASE, classLoader);
        return beanFactory.getBeanProvider(liquibase).stream().anyMatch(TableInitializer::isAsynchronous);
    }

    private static boolean isAsynchronous(Object liquibase) {
        return Stream.<Class<?>>iterate(liquibase.getClass(), type -> type != null, Class::getSuperclass)
                .anyMatch(type -> type.getSimpleName().startsWith("Async"));
    }
}
