package io.dbsemaphore.jdbc;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.BeansException;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * The URL of a {@code DataSource} without users, passwords and parameters, to be shown to people. Only text in the form of a server, a port
 * and a database is shown, because other text might be part of a password.
 */
public final class DatabaseUrl {

    private static final Pattern PARAMETERS = Pattern.compile("[?;].*", Pattern.DOTALL);
    private static final Pattern SERVER = Pattern.compile("(jdbc:[\\w:+-]+://)(.*@)?([^/@]*)(/.*)?");
    private static final Pattern HOSTS = Pattern.compile(
            "(?:[\\w.-]+|\\[[\\p{XDigit}:.%]+])(?::\\d+)?(?:,(?:[\\w.-]+|\\[[\\p{XDigit}:.%]+])(?::\\d+)?)*");
    private static final Pattern DATABASE = Pattern.compile("/[\\w.$~/-]*");
    private static final Pattern LOCAL = Pattern.compile("jdbc:h2:[^@]*");

    private DatabaseUrl() {}

    /** Returns the URL of a pool, or of a data source without a pool; empty if it is unknown. */
    public static Optional<String> of(DataSource dataSource) {
        return propertiesOf(dataSource, String.class, List.of("jdbcUrl", "url", "URL"))
                .findFirst()
                .map(DatabaseUrl::withoutSecrets);
    }

    /** Returns the values of the given properties that the pool has: each kind of pool has its own names. */
    static <T> Stream<T> propertiesOf(DataSource dataSource, Class<T> type, List<String> names) {
        DataSource pool = dataSource;
        while (pool instanceof DelegatingDataSource delegating && delegating.getTargetDataSource() != null) {
            pool = delegating.getTargetDataSource();
        }
        BeanWrapper properties = PropertyAccessorFactory.forBeanPropertyAccess(pool);
        return names.stream()
                .filter(properties::isReadableProperty)
                .map(name -> read(properties, name))
                .filter(type::isInstance)
                .map(type::cast);
    }

    private static @Nullable Object read(BeanWrapper properties, String name) {
        try {
            return properties.getPropertyValue(name);
        } catch (BeansException unreadable) {
            return null;
        }
    }

    /** Removes from a URL everything that must not be shown. */
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
