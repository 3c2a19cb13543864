package io.dbsemaphore.tools.faults;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
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
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/** Creates and drops tables. All names begin with {@link Workload#TABLE_PREFIX}, so that no other table is touched. */
final class Tables {

    // A strong reference: a logger that is collected loses its level.
    private static final Logger LIQUIBASE_LOG = Logger.getLogger("liquibase");

    private final DataSource dataSource;
    private final JdbcTemplate jdbc;

    Tables(DataSource dataSource) {
        this.dataSource = dataSource;
        this.jdbc = new JdbcTemplate(dataSource);
    }

    /** Creates the tables of the library from its changelog, and the rows that are written to under {@code requireHeld}. */
    void create() throws LiquibaseException {
        SpringLiquibase liquibase = new SpringLiquibase();
        liquibase.setDataSource(dataSource);
        liquibase.setChangeLog("classpath:db/dbsemaphore/changelog.xml");
        liquibase.setChangeLogParameters(Map.of("dbsemaphore.tablePrefix", Workload.TABLE_PREFIX));
        liquibase.setDatabaseChangeLogTable(Workload.TABLE_PREFIX + "changelog");
        liquibase.setDatabaseChangeLogLockTable(Workload.TABLE_PREFIX + "changelog_lock");
        liquibase.setResourceLoader(new DefaultResourceLoader());
        liquibase.setUiService(UIServiceEnum.LOGGER);
        liquibase.setAnalyticsEnabled(false);
        LIQUIBASE_LOG.setLevel(Level.WARNING);
        liquibase.afterPropertiesSet();
        jdbc.execute("create table faults_ledger (name varchar(190) primary key, token bigint not null)");
        Workload.ledgers().forEach(name -> jdbc.update("insert into faults_ledger values (?, 0)", name));
    }

    /** Drops all of them, those first that no foreign key refers to. */
    void dropAll() throws SQLException {
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
                if (name.toLowerCase(Locale.ROOT).startsWith(Workload.TABLE_PREFIX)) {
                    found.add(name);
                }
            }
        }
        return found;
    }
}
