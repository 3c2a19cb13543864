package io.dbsemaphore.testing;

import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.sql.DataSource;
import liquibase.exception.LiquibaseException;
import liquibase.integration.spring.SpringLiquibase;
import liquibase.ui.UIServiceEnum;
import org.springframework.core.io.DefaultResourceLoader;

/** Runs the changelog of the library by Liquibase, one run at a time in this JVM. */
final class LibraryChangelog {

    // A strong reference: a level is forgotten with its logger.
    private static final Logger LOG = Logger.getLogger("liquibase");

    private LibraryChangelog() {}

    static synchronized void run(DataSource dataSource, Map<String, String> parameters) {
        SpringLiquibase liquibase = new SpringLiquibase();
        liquibase.setDataSource(dataSource);
        liquibase.setChangeLog("classpath:" + TestDatabase.Schema.CHANGELOG);
        liquibase.setChangeLogParameters(parameters);
        liquibase.setResourceLoader(new DefaultResourceLoader());
        liquibase.setUiService(UIServiceEnum.LOGGER);
        liquibase.setAnalyticsEnabled(false);
        LOG.setLevel(Level.WARNING);
        try {
            liquibase.afterPropertiesSet();
        } catch (LiquibaseException e) {
            throw new IllegalStateException("The changelog does not run", e);
        }
    }
}
