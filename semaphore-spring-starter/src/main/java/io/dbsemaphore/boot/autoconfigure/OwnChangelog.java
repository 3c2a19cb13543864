package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.DatabaseNotWritableException;
import io.dbsemaphore.engine.DatabaseUnreachableException;
import io.dbsemaphore.engine.SemaphoreTablesMissingException;
import java.util.Map;
import javax.sql.DataSource;
import liquibase.UpdateSummaryEnum;
import liquibase.exception.LiquibaseException;
import liquibase.integration.spring.SpringLiquibase;
import liquibase.ui.UIServiceEnum;
import org.springframework.core.io.ResourceLoader;
import org.springframework.util.ClassUtils;

/**
 * Runs the changelog of the library beside the application's own. A {@code SpringLiquibase} that is not a bean, since
 * Spring Boot would take a bean for the application's own and skip the application's changelog.
 */
final class OwnChangelog {

    private OwnChangelog() {}

    /**
     * Makes or updates the tables. Instances that start at the same time wait for each other, as with any changelog.
     *
     * @throws SemaphoreConfigurationException when Liquibase is not on the class path
     * @throws DatabaseNotWritableException when the database refuses writes
     * @throws IllegalStateException when the changelog fails
     */
    static void run(DataSource dataSource, String tablePrefix, ResourceLoader resourceLoader) {
        if (!ClassUtils.isPresent("liquibase.Liquibase", resourceLoader.getClassLoader())) {
            throw new SemaphoreConfigurationException(
                    "semaphore.liquibase.enabled is true, but Liquibase is not on the class path.",
                    "Add the dependency org.liquibase:liquibase-core, or make the tables in another way and remove"
                            + " the property.");
        }
        LiquibaseRun.update(dataSource, tablePrefix, resourceLoader);
    }

    /** Loaded only where Liquibase is there. */
    private static final class LiquibaseRun {

        static void update(DataSource dataSource, String tablePrefix, ResourceLoader resourceLoader) {
            SpringLiquibase liquibase = new SpringLiquibase();
            liquibase.setDataSource(dataSource);
            liquibase.setResourceLoader(resourceLoader);
            liquibase.setChangeLog("classpath:" + SemaphoreTablesMissingException.CHANGELOG);
            liquibase.setChangeLogParameters(Map.of("dbsemaphore.tablePrefix", tablePrefix));
            liquibase.setUiService(UIServiceEnum.LOGGER);
            liquibase.setShowSummary(UpdateSummaryEnum.OFF);
            liquibase.setAnalyticsEnabled(false);
            try {
                ChangeLogTable.prepare(dataSource);
                liquibase.afterPropertiesSet();
            } catch (LiquibaseException failure) {
                throw explain(failure);
            } catch (RuntimeException failure) { // of a pool that cannot begin
                throw DatabaseUnreachableException.of(failure)
                        .<RuntimeException>map(unreachable -> unreachable)
                        .orElse(failure);
            }
        }

        private static RuntimeException explain(LiquibaseException failure) {
            return DatabaseNotWritableException.of(failure)
                    .<RuntimeException>map(refused -> refused)
                    .or(() -> DatabaseUnreachableException.of(failure))
                    .orElseGet(() -> new IllegalStateException("The changelog of the semaphores failed", failure));
        }
    }
}
