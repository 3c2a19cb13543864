package io.dbsemaphore.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * Whether the server is one of several that are written to, by Galera or by Group Replication. There row locks are known
 * to one server only: at its commit, a transaction fails that has <em>written</em> what another server has written
 * meanwhile. What it has merely locked is compared with nothing.
 */
public final class WriteCertification {

    private static final String VARIABLES =
            "show global variables where variable_name in ('wsrep_on', 'group_replication_group_name')";

    private WriteCertification() {}

    /**
     * Asks the server. The variables are those of modules that may be missing, and anybody may look at them.
     *
     * @throws SQLException when it cannot be asked
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
                // a group has a name, which is a UUID, whether it has only one primary or several
                on |= value != null && !value.isEmpty() && !value.equalsIgnoreCase("OFF") && !value.equals("0");
            }
            return on;
        }
    }
}
