package io.dbsemaphore.jdbc;

import java.lang.reflect.Method;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The URL of a {@code DataSource}, as shown to people: without users, passwords and parameters. Only text in the form of a server, a port
 * and a database is shown, since other text might be part of a password.
 */
public final class DatabaseUrl {

    private static final Pattern PARAMETERS = Pattern.compile("[?;].*", Pattern.DOTALL);
    private static final Pattern SERVER = Pattern.compile("(jdbc:[\\w:+-]+://)(.*@)?([^/@]*)(/.*)?");
    private static final Pattern HOSTS = Pattern.compile(
            "(?:[\\w.-]+|\\[[\\p{XDigit}:.%]+])(?::\\d+)?(?:,(?:[\\w.-]+|\\[[\\p{XDigit}:.%]+])(?::\\d+)?)*");
    private static final Pattern DATABASE = Pattern.compile("/[\\w.$~/-]*");
    private static final Pattern LOCAL = Pattern.compile("jdbc:h2:[^@]*");

    private DatabaseUrl() {}

    /** The URL of a pool, or of a data source without a pool; empty if it does not tell. */
    public static Optional<String> of(DataSource dataSource) {
        DataSource pool = poolOf(dataSource);
        return Stream.of("getJdbcUrl", "getUrl", "getURL")
                .map(getter -> read(pool, getter))
                .flatMap(Optional::stream)
                .findFirst()
                .map(DatabaseUrl::withoutSecrets);
    }

    /** The data source to which those in front of it delegate. */
    static DataSource poolOf(DataSource dataSource) {
        DataSource target = dataSource;
        while (target instanceof DelegatingDataSource delegating && delegating.getTargetDataSource() != null) {
            target = delegating.getTargetDataSource();
        }
        return target;
    }

    private static Optional<String> read(DataSource dataSource, String getter) {
        Method method = ClassUtils.getMethodIfAvailable(dataSource.getClass(), getter);
        if (method == null || method.getReturnType() != String.class) {
            return Optional.empty();
        }
        try {
            @Nullable Object url = ReflectionUtils.invokeMethod(method, dataSource);
            return Optional.ofNullable((String) url);
        } catch (RuntimeException unreadable) {
            return Optional.empty();
        }
    }

    /** A URL as it can be shown. */
    public static String withoutSecrets(String url) {
        String address = PARAMETERS.matcher(url).replaceFirst("");
        if (LOCAL.matcher(address).matches()) {
            return address;
        }
        Matcher server = SERVER.matcher(address);
        if (!server.matches()) {
            return "jdbc:…";
        }
        @Nullable String database = server.group(4);
        return server.group(1)
                + (HOSTS.matcher(server.group(3)).matches() ? server.group(3) : "…")
                + (database == null ? "" : DATABASE.matcher(database).matches() ? database : "/…");
    }
}
