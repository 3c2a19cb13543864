package io.dbsemaphore.testing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Remembers from where each statement and each commit was sent: the frames of the library, without those of tests. */
public final class StackRecorder extends DelegatingDataSource {

    private static final String LIBRARY = "io.dbsemaphore.";

    private final List<List<StackTraceElement>> stacks = new ArrayList<>();

    /** Records what is sent by connections of this data source. */
    public StackRecorder(DataSource target) {
        super(target);
    }

    /** The stacks since the last {@link #clear}, in the order of the statements, each with its caller first. */
    public synchronized List<List<StackTraceElement>> stacks() {
        return List.copyOf(stacks);
    }

    /** Forgets what was recorded. */
    public synchronized void clear() {
        stacks.clear();
    }

    private synchronized void record() {
        List<StackTraceElement> stack = new ArrayList<>(Arrays.stream(new Throwable().getStackTrace())
                .filter(frame -> frame.getClassName().startsWith(LIBRARY))
                .filter(frame -> !frame.getClassName().startsWith(LIBRARY + "testing."))
                .filter(frame ->
                        !frame.getClassName().contains("$Proxy")) // made by Spring, in the package of an interface
                .filter(frame -> !frame.getClassName().matches(".*Tests(\\$.*)?"))
                .toList());
        Collections.reverse(stack);
        stacks.add(stack);
    }

    @Override
    public Connection getConnection() throws SQLException {
        return recorded(super.getConnection(), Connection.class);
    }

    private <T> T recorded(T target, Class<T> type) {
        return type.cast(Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    if (method.getName().startsWith("execute")
                            || method.getName().equals("commit")) {
                        record();
                    }
                    Object result;
                    try {
                        result = method.invoke(target, arguments);
                    } catch (InvocationTargetException failure) {
                        throw failure.getTargetException();
                    }
                    if (result instanceof PreparedStatement statement
                            && method.getReturnType() == PreparedStatement.class) {
                        return recorded(statement, PreparedStatement.class);
                    }
                    return result instanceof Statement statement && method.getReturnType() == Statement.class
                            ? recorded(statement, Statement.class)
                            : result;
                }));
    }
}
