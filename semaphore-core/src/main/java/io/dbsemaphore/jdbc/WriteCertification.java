package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * Detects whether the server belongs to a multi-primary cluster, by Galera or Group Replication. Row locks are known to
 * one server only there: a transaction fails at commit if another server has <em>written</em> the same rows meanwhile.
 * Rows that it has only locked are not compared.
 */
public final class WriteCertification {

    private static final String VARIABLES =
            "show global variables where variable_name in ('wsrep_on', 'group_replication_group_name')";

    private WriteCertification() {}

    /**
     * Asks the server. The variables belong to modules that may be missing; reading them requires no privilege.
     *
     * @throws SQLException if the server cannot be queried
     */
    public static boolean isOn(DataSource dataSource, Database database) throws SQLException {
        if (database != Database.MYSQL && database != Database.MARIADB) {
            return false;
        }
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet variables = statement.executeQuery(VARIABLES)) {
            boolean on = false;
            while (variables.next()) {
                String value = variables.getString(2);
                // the name of a group is a UUID, with one primary as well as with several
                on |= value != null && !value.isEmpty() && !value.equalsIgnoreCase("OFF") && !value.equals("0");
            }
            return on;
        }
    }
}
