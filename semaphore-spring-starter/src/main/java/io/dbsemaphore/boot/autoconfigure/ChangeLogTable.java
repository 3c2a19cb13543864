package io.dbsemaphore.boot.autoconfigure;

import java.sql.Connection;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The table {@code DATABASECHANGELOG}, in which Liquibase records the change sets that it has run. Liquibase creates it
 * without a primary key, which MySQL servers reject with Group Replication or {@code sql_require_primary_key}. On these
 * servers it is created in advance, with the columns of Liquibase 4.33 and 5.0; Liquibase uses an existing table.
 */
final class ChangeLogTable {

    private static final String GROUP_REPLICATION = """
            select count(*) from information_schema.plugins
            where plugin_name = 'group_replication' and plugin_status = 'ACTIVE'""";

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

    private ChangeLogTable() {}

    /** Creates the table if the server requires primary keys and the table does not exist. */
    static void prepare(DataSource dataSource) {
        JdbcTemplate jdbc = new JdbcTemplate(dataSource);
        if (isMySql(jdbc) && demandsPrimaryKeys(jdbc)) {
            jdbc.execute(WITH_PRIMARY_KEY);
        }
    }

    private static boolean isMySql(JdbcTemplate jdbc) {
        return Boolean.TRUE.equals(jdbc.<Boolean>execute((Connection connection) ->
                connection.getMetaData().getDatabaseProductName().equals("MySQL")));
    }

    private static boolean demandsPrimaryKeys(JdbcTemplate jdbc) {
        boolean required = jdbc.query(
                        "show variables like 'sql_require_primary_key'", (row, number) -> row.getString(2))
                .contains("ON");
        Integer plugins = jdbc.queryForObject(GROUP_REPLICATION, Integer.class);
        return required || (plugins != null && plugins > 0);
    }
}
