package io.dbsemaphore.testing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** A data source that limits the rows of each result to one, as some applications do to protect themselves. */
public final class LimitedRows extends DelegatingDataSource {

    private volatile boolean always;

    /** Limits the rows of another data source. A limit is set when a statement is made, so that it can be lifted. */
    public LimitedRows(DataSource target) {
        super(target);
    }

    /** From now on, sets the limit whenever a statement is executed. */
    public LimitedRows always() {
        always = true;
        return this;
    }

    @Override
    public Connection getConnection() throws SQLException {
        return limited(Connection.class, super.getConnection());
    }

    private <T> T limited(Class<T> type, T target) {
        return type.cast(Proxy.newProxyInstance(
                LimitedRows.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    if (always
                            && target instanceof Statement statement
                            && method.getName().startsWith("execute")) {
                        statement.setMaxRows(1);
                    }
                    Object result;
                    try {
                        result = method.invoke(target, arguments);
                    } catch (InvocationTargetException failure) {
                        throw failure.getTargetException();
                    }
                    if (target instanceof Connection && result instanceof Statement statement) {
                        statement.setMaxRows(1);
                        return statement instanceof CallableStatement call
                                ? limited(CallableStatement.class, call)
                                : statement instanceof PreparedStatement prepared
                                        ? limited(PreparedStatement.class, prepared)
                                        : limited(Statement.class, statement);
                    }
                    return result;
                }));
    }
}
