package io.dbsemaphore.tools.benchmark.approach;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.Serializable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The servers to measure on. Measuring JVMs get it by serialization, so that no password is on a command line.
 *
 * @param redis the address of a Redis; null without one
 */
public record Target(
        String url, String user, String password, @Nullable String redis) implements Serializable {

    /** The same servers at other addresses. */
    public Target at(String otherUrl, @Nullable String otherRedis) {
        return new Target(otherUrl, user, password, otherRedis);
    }

    /** Opens a pool with HikariCP's defaults. */
    public HikariDataSource pool(String name, int size) {
        return pool(name, size, config -> {});
    }

    /** Opens a pool with these settings beside HikariCP's defaults. */
    public HikariDataSource pool(String name, int size, Consumer<HikariConfig> settings) {
        HikariConfig config = new HikariConfig();
        config.setPoolName(name);
        config.setJdbcUrl(url);
        config.setUsername(user);
        config.setPassword(password);
        config.setMaximumPoolSize(size);
        settings.accept(config);
        return new HikariDataSource(config);
    }

    @Override
    public String toString() {
        return url.replaceFirst("\\?.*", "");
    }
}
