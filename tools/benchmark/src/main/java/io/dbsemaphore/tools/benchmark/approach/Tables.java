package io.dbsemaphore.tools.benchmark.approach;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import liquibase.exception.LiquibaseException;
import liquibase.integration.spring.SpringLiquibase;
import liquibase.ui.UIServiceEnum;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/** Creates and drops tables. All names begin with {@link #PREFIX}, so that no other table is touched. */
public final class Tables {

    /** The prefix of all tables of the benchmark. */
    public static final String PREFIX = "bench_";

    // A strong reference: a logger that is collected loses its level.
    private static final Logger LIQUIBASE_LOG = Logger.getLogger("liquibase");

    private final DataSource dataSource;
    private final JdbcTemplate jdbc;

    /** On this data source. */
    public Tables(DataSource dataSource) {
        this.dataSource = dataSource;
        this.jdbc = new JdbcTemplate(dataSource);
    }

    /** Creates the tables of all approaches but the library. */
    public void create() {
        Stream.of(TextbookLimiter.DDL, BareUpdateLimiter.DDL, LockRegistryLimiter.DDL, ShedLockLimiter.DDL)
                .flatMap(List::stream)
                .forEach(jdbc::execute);
    }

    /** Creates the tables of the library from its changelog. */
    public void createLibraryTables(String prefix) throws LiquibaseException {
        SpringLiquibase liquibase = new SpringLiquibase();
        liquibase.setDataSource(dataSource);
        liquibase.setChangeLog("classpath:db/dbsemaphore/changelog.xml");
        liquibase.setChangeLogParameters(Map.of("dbsemaphore.tablePrefix", prefix));
        // One history for each prefix: to Liquibase it is the same changelog every time
        liquibase.setDatabaseChangeLogTable(prefix + "changelog");
        liquibase.setDatabaseChangeLogLockTable(prefix + "changelog_lock");
        liquibase.setResourceLoader(new DefaultResourceLoader());
        liquibase.setUiService(UIServiceEnum.LOGGER);
        liquibase.setAnalyticsEnabled(false);
        LIQUIBASE_LOG.setLevel(Level.WARNING);
        liquibase.afterPropertiesSet();
    }

    /** Drops all tables of the benchmark, those first that no foreign key refers to. */
    public void dropAll() throws SQLException {
        List<String> left = find();
        for (int before = Integer.MAX_VALUE; left.size() < before; left = find()) {
            before = left.size();
            for (String table : left) {
                try {
                    jdbc.execute("drop table " + table);
                } catch (DataAccessException referredTo) {
                    // in the next pass
                }
            }
        }
        if (!left.isEmpty()) {
            throw new SQLException("Cannot drop %s; drop them by hand".formatted(left));
        }
    }

    private List<String> find() throws SQLException {
        List<String> found = new ArrayList<>();
        try (Connection connection = dataSource.getConnection();
                ResultSet tables = connection
                        .getMetaData()
                        .getTables(connection.getCatalog(), connection.getSchema(), "%", new String[] {"TABLE"})) {
            while (tables.next()) {
                String name = tables.getString("TABLE_NAME");
                if (name.toLowerCase(Locale.ROOT).startsWith(PREFIX)) {
                    found.add(name);
                }
            }
        }
        return found;
    }
}
