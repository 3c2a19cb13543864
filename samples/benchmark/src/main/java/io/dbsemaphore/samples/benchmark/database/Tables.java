package io.dbsemaphore.samples.benchmark.database;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.sql.DataSource;
import liquibase.exception.LiquibaseException;
import liquibase.integration.spring.SpringLiquibase;
import liquibase.ui.UIServiceEnum;
import org.springframework.core.io.DefaultResourceLoader;

/** Makes and drops tables. All names begin with {@link #PREFIX}, so that nothing of anybody else's is touched. */
public final class Tables {

    /** What the names of all tables of the benchmark begin with. */
    public static final String PREFIX = "bench_";

    // A strong reference: a level is forgotten with its logger.
    private static final Logger LIQUIBASE_LOG = Logger.getLogger("liquibase");

    private final DataSource dataSource;

    /** On this data source. */
    public Tables(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** Makes the tables of the library, from its changelog. */
    public void makeLibraryTables(String prefix) throws LiquibaseException {
        SpringLiquibase liquibase = new SpringLiquibase();
        liquibase.setDataSource(dataSource);
        liquibase.setChangeLog("classpath:db/dbsemaphore/changelog.xml");
        liquibase.setChangeLogParameters(Map.of("dbsemaphore.tablePrefix", prefix));
        // One log for each prefix: to Liquibase it is the same changelog every time
        liquibase.setDatabaseChangeLogTable(prefix + "changelog");
        liquibase.setDatabaseChangeLogLockTable(prefix + "changelog_lock");
        liquibase.setResourceLoader(new DefaultResourceLoader());
        liquibase.setUiService(UIServiceEnum.LOGGER);
        liquibase.setAnalyticsEnabled(false);
        LIQUIBASE_LOG.setLevel(Level.WARNING);
        liquibase.afterPropertiesSet();
    }

    /** Executes these statements. */
    public void execute(List<String> statements) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    /** Drops every table whose name begins with this prefix. */
    public void drop(String prefix) throws SQLException {
        List<String> left = find(prefix);
        while (!left.isEmpty()) {
            SQLException refusal = dropWhatCanBe(left);
            List<String> still = find(prefix);
            if (still.size() == left.size()) {
                throw refusal;
            }
            left = still;
        }
    }

    /** A table that another one refers to can be dropped after that one only. */
    private SQLException dropWhatCanBe(List<String> tables) throws SQLException {
        SQLException refusal = new SQLException("Nothing to drop in " + tables);
        for (String table : tables) {
            try {
                execute(List.of("drop table " + table));
            } catch (SQLException failure) {
                refusal = failure;
            }
        }
        return refusal;
    }

    private List<String> find(String prefix) throws SQLException {
        List<String> found = new ArrayList<>();
        try (Connection connection = dataSource.getConnection();
                ResultSet tables = connection
                        .getMetaData()
                        .getTables(connection.getCatalog(), connection.getSchema(), "%", new String[] {"TABLE"})) {
            while (tables.next()) {
                String name = tables.getString("TABLE_NAME");
                if (name.toLowerCase(Locale.ROOT).startsWith(prefix)) {
                    found.add(name);
                }
            }
        }
        return found;
    }
}
