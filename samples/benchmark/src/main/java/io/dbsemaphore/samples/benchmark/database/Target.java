package io.dbsemaphore.samples.benchmark.database;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.Serializable;
import java.util.function.Consumer;

/** Where the database is. The second JVM gets it by serialization, so that no password is on a command line. */
public record Target(String url, String user, String password) implements Serializable {

    /** A pool with the settings a pool has by itself. */
    public HikariDataSource pool(String name, int size) {
        return pool(name, size, config -> {});
    }

    /** A pool with settings of its own. */
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
