package io.dbsemaphore.boot.autoconfigure;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.jdbc.DatabaseUrl;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * The pool of {@code semaphore.datasource.url}, for the semaphores only. Its {@code DataSource} is not a bean: it is not injected into
 * the application, and Spring Boot configures nothing because of it.
 */
record OwnPool(HikariDataSource dataSource) implements AutoCloseable {

    /** The connections that the library uses besides {@code semaphore.jdbc.max-connections}, such as the one for notifications. */
    private static final int BESIDE_THE_BATCHES = 2;

    /** @throws SemaphoreConfigurationException if there are properties of a pool, but no URL */
    static void checkKeys(Environment environment) {
        List<String> given = Stream.of("username", "password", "driver-class-name", "hikari")
                .map("semaphore.datasource."::concat)
                .filter(property -> environment.containsProperty(property)
                        || Binder.get(environment)
                                .bind(property, Bindable.mapOf(String.class, Object.class))
                                .isBound())
                .toList();
        if (!given.isEmpty() && !environment.containsProperty(Properties.URL)) {
            throw new SemaphoreConfigurationException(
                    "%s would have no effect without %s.".formatted(given, Properties.URL),
                    "Set that, or remove them: the semaphores are in the DataSource of the application.");
        }
    }

    /**
     * Opens no connection yet.
     *
     * @throws SemaphoreConfigurationException if the URL does not begin with {@code jdbc:}, or its driver is not on the class path
     */
    static OwnPool of(Properties properties, int maxConnections, Environment environment) {
        String url = Objects.requireNonNull(properties.url());
        if (!url.startsWith("jdbc:")) {
            throw new SemaphoreConfigurationException(
                    Properties.URL + " must begin with jdbc:, which it does not.",
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
        Binder.get(environment).bind(Properties.HIKARI, Bindable.ofInstance(pool));
        return new OwnPool(pool);
    }

    private static String driver(@Nullable String configured, String url) {
        String driver = configured != null
                ? configured
                : DatabaseDriver.fromJdbcUrl(url).getDriverClassName();
        if (driver == null) {
            throw new SemaphoreConfigurationException(
                    "%s is that of an unknown database.".formatted(Properties.URL),
                    "Correct the URL, or name the driver: semaphore.datasource.driver-class-name.");
        }
        if (!ClassUtils.isPresent(driver, null)) {
            throw new SemaphoreConfigurationException(
                    "%s = %s needs the JDBC driver %s, which is not on the class path."
                            .formatted(Properties.URL, DatabaseUrl.withoutSecrets(url), driver),
                    "Add the dependency of the driver, beside that of R2DBC.");
        }
        return driver;
    }

    @Override
    public void close() {
        dataSource.close();
    }

    /**
     * A pool for the semaphores only, besides R2DBC or the pool of the application.
     *
     * @param url JDBC URL of the database of the semaphores. The library then opens a pool of its own, which is not a bean. Excludes
     *     'semaphore.datasource'.
     * @param username User for 'semaphore.datasource.url'.
     * @param password Password for 'semaphore.datasource.url'.
     * @param driverClassName Class of the JDBC driver. Default is the driver for the URL.
     * @param hikari Settings of the pool of 'semaphore.datasource.url', as under 'spring.datasource.hikari'. Default maximum pool size is
     *     'semaphore.jdbc.max-connections' + 2, default minimum idle 1.
     */
    @ConfigurationProperties("semaphore.datasource")
    record Properties(
            @Nullable String url,
            @Nullable String username,
            @Nullable String password,
            @Nullable String driverClassName,
            @DefaultValue Map<String, String> hikari) {

        static final String URL = "semaphore.datasource.url";
        static final String HIKARI = "semaphore.datasource.hikari";
    }
}
