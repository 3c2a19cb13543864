package io.dbsemaphore.boot.autoconfigure;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * A database that the semaphores connect to by a pool of their own, beside R2DBC or beside the pool of the application.
 *
 * @param url JDBC URL of the database that has the semaphores, for an application without a JDBC DataSource or with another
 *     one. The library opens a pool of its own, which is not a bean. Excludes 'semaphore.datasource'.
 * @param username User of the connections of 'semaphore.datasource.url'.
 * @param password Password of the connections of 'semaphore.datasource.url'.
 * @param driverClassName Class of the JDBC driver. Default is that of the URL.
 * @param hikari Settings of the pool of 'semaphore.datasource.url', those of 'spring.datasource.hikari'. The maximum pool size is
 *     'semaphore.max-connections' + 2, and the minimum idle 1, by default.
 */
@ConfigurationProperties("semaphore.datasource")
record OwnPoolProperties(
        @Nullable String url,
        @Nullable String username,
        @Nullable String password,
        @Nullable String driverClassName,
        @DefaultValue Map<String, String> hikari) {

    static final String URL = "semaphore.datasource.url";
    static final String HIKARI = "semaphore.datasource.hikari";
}
