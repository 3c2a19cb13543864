package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.DatabaseNotWritableException;
import io.dbsemaphore.engine.DatabaseUnreachableException;
import io.dbsemaphore.engine.SemaphoreTablesMissingException;
import io.dbsemaphore.jdbc.SqlErrors;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;
import liquibase.UpdateSummaryEnum;
import liquibase.integration.spring.SpringLiquibase;
import liquibase.ui.UIServiceEnum;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.io.ResourceLoader;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.util.ClassUtils;

/**
 * Runs the changelog of the library in addition to that of the application. Its {@code SpringLiquibase} is not a bean:
 * Spring Boot would take a bean for the application's, and skip the application's changelog.
 */
final class OwnChangelog {

    private static final Logger log = LoggerFactory.getLogger(OwnChangelog.class);

    /** One, and one more for each of Liquibase's tables. */
    private static final int ATTEMPTS = 3;

    private static final Set<String> TABLE_EXISTS =
            Set.of("42S01", "42P07", "23505"); // PostgreSQL, while the other instance has not committed

    private static final String GROUP_REPLICATION = """
            select count(*) from information_schema.plugins
            where plugin_name = 'group_replication' and plugin_status = 'ACTIVE'""";

    /** The columns of Liquibase 4.33 and 5.0. */
    private static final String WITH_PRIMARY_KEY = """
            create table if not exists DATABASECHANGELOG (
                ID varchar(255) not null,
                AUTHOR varchar(255) not null,
                FILENAME varchar(255) not null,
                DATEEXECUTED datetime not null,
                ORDEREXECUTED int not null,
                EXECTYPE varchar(10) not null,
                MD5SUM varchar(35),
                DESCRIPTION varchar(255),
                COMMENTS varchar(255),
                TAG varchar(255),
                LIQUIBASE varchar(20),
                CONTEXTS varchar(255),
                LABELS varchar(255),
                DEPLOYMENT_ID varchar(10),
                primary key (ID, AUTHOR, FILENAME)
            )""";

    private OwnChangelog() {}

    /**
     * Creates or updates the tables. Instances that start at the same time wait for each other, as with any changelog.
     *
     * @throws SemaphoreConfigurationException if Liquibase is not on the class path
     * @throws DatabaseNotWritableException if the database rejects writes
     * @throws DatabaseUnreachableException if the database cannot be reached
     * @throws IllegalStateException if the changelog fails
     */
    static void run(DataSource dataSource, String tablePrefix, ResourceLoader resourceLoader) {
        if (!ClassUtils.isPresent("liquibase.Liquibase", resourceLoader.getClassLoader())) {
            throw new SemaphoreConfigurationException(
                    "semaphore.liquibase.enabled is true, but Liquibase is not on the class path.",
                    "Add the dependency org.liquibase:liquibase-core, or create the tables in another way and remove"
                            + " the property.");
        }
        try {
            String product = JdbcUtils.extractDatabaseMetaData(dataSource, DatabaseMetaData::getDatabaseProductName);
            if (product.equals("MySQL")) {
                createChangeLogTable(new JdbcTemplate(dataSource));
            }
            // On PostgreSQL, only Liquibase quotes table names with capital letters
            String unquoted = product.equals("PostgreSQL") ? tablePrefix.toLowerCase(Locale.ROOT) : tablePrefix;
            SpringLiquibase liquibase = new SpringLiquibase();
            liquibase.setDataSource(dataSource);
            liquibase.setResourceLoader(resourceLoader);
            liquibase.setChangeLog("classpath:" + SemaphoreTablesMissingException.CHANGELOG);
            liquibase.setChangeLogParameters(Map.of("dbsemaphore.tablePrefix", unquoted));
            liquibase.setUiService(UIServiceEnum.LOGGER);
            liquibase.setShowSummary(UpdateSummaryEnum.OFF);
            liquibase.setAnalyticsEnabled(false);
            update(liquibase);
        } catch (Exception failure) {
            // not LiquibaseException, which would be loaded with this class
            throw DatabaseNotWritableException.of(failure, tablePrefix)
                    .<RuntimeException>map(refused -> refused)
                    .or(() -> DatabaseUnreachableException.of(dataSource, failure))
                    .orElseGet(() -> new IllegalStateException("The changelog of the semaphores failed", failure));
        }
    }

    /** Runs the changelog again if another instance created Liquibase's tables at the same time: Liquibase looks without a lock. */
    private static void update(SpringLiquibase liquibase) throws Exception {
        for (int attempt = 1; ; attempt++) {
            try {
                liquibase.afterPropertiesSet();
                return;
            } catch (Exception failure) {
                if (attempt == ATTEMPTS
                        || SqlErrors.root(failure)
                                .map(SQLException::getSQLState)
                                .filter(TABLE_EXISTS::contains)
                                .isEmpty()) {
                    throw failure;
                }
                log.debug("Another instance has created a table of Liquibase; the changelog is run again", failure);
            }
        }
    }

    /**
     * Creates the table in which Liquibase records its change sets, if the server requires primary keys and the table does not exist.
     * Liquibase would create it without a key, which MySQL rejects with Group Replication or {@code sql_require_primary_key}.
     */
    private static void createChangeLogTable(JdbcTemplate jdbc) {
        boolean required = jdbc.query(
                        "show variables like 'sql_require_primary_key'", (row, number) -> row.getString(2))
                .contains("ON");
        Integer plugins = jdbc.queryForObject(GROUP_REPLICATION, Integer.class);
        if (required || (plugins != null && plugins > 0)) {
            jdbc.execute(WITH_PRIMARY_KEY);
        }
    }
}
