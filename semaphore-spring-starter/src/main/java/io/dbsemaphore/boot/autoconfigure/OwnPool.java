package io.dbsemaphore.boot.autoconfigure;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.jdbc.DatabaseUrl;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * The pool of {@code semaphore.datasource.url}, for the semaphores only. Its {@code DataSource} is not a bean: nothing of the
 * application is injected with it, and Spring Boot configures nothing because of it.
 */
final class OwnPool implements AutoCloseable {

    /** What the library uses beside those of semaphore.max-connections, such as that for notifications. */
    private static final int BESIDE_THE_BATCHES = 2;

    private final HikariDataSource pool;

    private OwnPool(HikariDataSource pool) {
        this.pool = pool;
    }

    /**
     * Opens no connection yet.
     *
     * @throws SemaphoreConfigurationException if the URL is none of JDBC, or its driver is not on the class path
     */
    static OwnPool of(OwnPoolProperties properties, String url, int maxConnections, Environment environment) {
        if (!url.startsWith("jdbc:")) {
            throw new SemaphoreConfigurationException(
                    OwnPoolProperties.URL + " must begin with jdbc:, which it does not.",
                    "The semaphores need the JDBC URL of their database, with its JDBC driver, also beside R2DBC.");
        }
        HikariDataSource pool = new HikariDataSource();
        pool.setPoolName("semaphore");
        pool.setJdbcUrl(url);
        pool.setUsername(properties.username());
        pool.setPassword(properties.password());
        pool.setDriverClassName(driver(properties.driverClassName(), url));
        pool.setMaximumPoolSize(maxConnections + BESIDE_THE_BATCHES);
        pool.setMinimumIdle(1);
        Binder.get(environment).bind(OwnPoolProperties.HIKARI, Bindable.ofInstance(pool));
        return new OwnPool(pool);
    }

    private static String driver(@Nullable String configured, String url) {
        DatabaseDriver known = DatabaseDriver.fromJdbcUrl(url);
        String driver = configured != null ? configured : known.getDriverClassName();
        if (driver == null) {
            throw new SemaphoreConfigurationException(
                    "%s is that of an unknown database.".formatted(OwnPoolProperties.URL),
                    "Correct the URL, or name the driver: semaphore.datasource.driver-class-name.");
        }
        if (!ClassUtils.isPresent(driver, null)) {
            throw new SemaphoreConfigurationException(
                    "%s = %s needs the JDBC driver %s, which is not on the class path."
                            .formatted(OwnPoolProperties.URL, DatabaseUrl.withoutSecrets(url), driver),
                    "Add the dependency of the driver, beside that of R2DBC: %s.".formatted(artifact(known)));
        }
        return driver;
    }

    private static String artifact(DatabaseDriver database) {
        return switch (database) {
            case MYSQL -> "com.mysql:mysql-connector-j";
            case MARIADB -> "org.mariadb.jdbc:mariadb-java-client";
            case POSTGRESQL -> "org.postgresql:postgresql";
            case H2 -> "com.h2database:h2";
            default -> "see the database's documentation";
        };
    }

    DataSource dataSource() {
        return pool;
    }

    @Override
    public void close() {
        pool.close();
    }
}
