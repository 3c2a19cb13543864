package io.dbsemaphore.testing;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Wrapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** A connection of a {@link StatementGate}: it tells the gate what is executed. */
final class GatedConnection implements InvocationHandler {

    private final StatementGate gate;
    private final int number;
    private final Connection target;
    private final Connection proxy;
    private final List<String> transaction = new ArrayList<>();
    private boolean closed;

    GatedConnection(StatementGate gate, int number, Connection target) {
        this.gate = gate;
        this.number = number;
        this.target = target;
        this.proxy = proxy(Connection.class, this);
    }

    Connection proxy() {
        return proxy;
    }

    @Override
    public @Nullable Object invoke(Object self, Method method, Object @Nullable [] arguments) throws Throwable {
        return switch (method.getName()) {
            case "prepareStatement", "prepareCall", "createStatement" -> gatedStatement(method, arguments);
            case "commit" -> endTransaction("commit", () -> call(target, method, arguments));
            // With an argument it goes back to a savepoint.
            case "rollback" ->
                arguments != null
                        ? call(target, method, arguments)
                        : endTransaction("rollback", () -> call(target, method, arguments));
            case "close" -> close(method);
            default -> common(self, target, method, arguments);
        };
    }

    private @Nullable Object gatedStatement(Method method, Object @Nullable [] arguments) throws Exception {
        Statement statement = (Statement) call(target, method, arguments);
        String sql = arguments != null && arguments[0] instanceof String text ? text : null;
        Class<? extends Statement> type = statement instanceof CallableStatement
                ? CallableStatement.class
                : statement instanceof PreparedStatement ? PreparedStatement.class : Statement.class;
        return proxy(type, new GatedStatement(statement, sql));
    }

    private @Nullable Object endTransaction(String how, Callable<@Nullable Object> end) throws Exception {
        try {
            return gate.execute(number, transaction, how, end);
        } finally {
            transaction.clear();
        }
    }

    private @Nullable Object close(Method method) throws Exception {
        try {
            return call(target, method, null);
        } finally {
            if (!closed) {
                closed = true;
                gate.returned();
            }
        }
    }

    private static @Nullable Object common(Object self, Wrapper target, Method method, Object @Nullable [] arguments)
            throws Exception {
        Object argument = arguments == null ? null : arguments[0];
        return switch (method.getName()) {
            case "equals" -> self == argument;
            case "hashCode" -> System.identityHashCode(self);
            case "toString" -> "Gated " + target;
            case "unwrap" -> unwrap(self, target, (Class<?>) argument);
            case "isWrapperFor" -> isWrapperFor(self, target, (Class<?>) argument);
            default -> call(target, method, arguments);
        };
    }

    private static Object unwrap(Object self, Wrapper target, Class<?> type) throws SQLException {
        return type.isInstance(self) ? self : type.isInstance(target) ? target : target.unwrap(type);
    }

    private static boolean isWrapperFor(Object self, Wrapper target, Class<?> type) throws SQLException {
        return type.isInstance(self) || type.isInstance(target) || target.isWrapperFor(type);
    }

    private static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Exception {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw (Exception) e.getCause();
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(GatedConnection.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private final class GatedStatement implements InvocationHandler {

        private final Statement target;
        private final @Nullable String prepared;
        private final List<String> batch = new ArrayList<>();
        private final Map<Integer, Object> values = SplitExecution.noValues();
        private @Nullable SplitExecution split;

        private GatedStatement(Statement target, @Nullable String prepared) {
            this.target = target;
            this.prepared = prepared;
        }

        @Override
        public @Nullable Object invoke(Object self, Method method, Object @Nullable [] arguments) throws Throwable {
            String sql = arguments != null && arguments[0] instanceof String text ? text : prepared;
            String name = method.getName();
            if (name.startsWith("execute")) {
                closeSplit(); // of the execution before
                String text = sql != null ? sql : String.join(SplitExecution.SEPARATOR, batch);
                return prepared != null && SplitExecution.parts(text).size() > 1
                        ? executeTogether(text, method)
                        : execute(text, method, arguments);
            }
            if (name.equals("setObject") && arguments != null) {
                values.put((Integer) arguments[0], arguments[1]);
            }
            if (split != null) {
                return askSplit(split, self, method, arguments);
            }
            if (name.equals("addBatch") && arguments != null) {
                batch.add(sql);
            } else if (name.equals("clearBatch")) {
                batch.clear();
            } else if (name.equals("getConnection")) {
                return proxy;
            }
            return common(self, target, method, arguments);
        }

        private @Nullable Object execute(String sql, Method method, Object @Nullable [] arguments) throws Exception {
            batch.clear();
            Object result = gate.execute(number, transaction, sql, () -> call(target, method, arguments));
            transaction.add(sql);
            return result;
        }

        private void closeSplit() throws SQLException {
            if (split != null) {
                split.close();
                split = null;
            }
        }

        /** In one piece as long as nothing is to happen between its parts. */
        private @Nullable Object executeTogether(String text, Method method) throws Exception {
            if (gate.isArmed()) {
                split = SplitExecution.of(
                        GatedConnection.this.target, text, target.getMaxRows(), values, this::executePart);
                return method.getName().equals("executeUpdate")
                        ? (Object) split.updateCount()
                        : split.resultSet() != null;
            }
            gate.executing(number, SplitExecution.parts(text));
            Object result = call(target, method, null);
            SplitExecution.parts(text).forEach(this::executed);
            return result;
        }

        private void executePart(String sql, SplitExecution.Call execution) throws Exception {
            gate.execute(number, transaction, sql, () -> {
                execution.run();
                return null;
            });
            executed(sql);
        }

        private void executed(String sql) {
            if (sql.equals("commit")) {
                transaction.clear();
            } else {
                transaction.add(sql);
            }
        }

        private @Nullable Object askSplit(
                SplitExecution executed, Object self, Method method, Object @Nullable [] arguments) throws Exception {
            return switch (method.getName()) {
                case "getMoreResults" -> executed.next();
                case "getResultSet" -> executed.resultSet();
                case "getUpdateCount" -> executed.updateCount();
                case "close" -> {
                    closeSplit();
                    yield call(target, method, arguments);
                }
                default -> common(self, target, method, arguments);
            };
        }
    }
}
