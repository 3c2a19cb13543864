package io.dbsemaphore.maintenance;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.node.Node;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.TimeZone;

/**
 * The main class of the JVMs in other time zones. It says {@code READY zone}, and does what it reads:
 * {@code acquire NAME ID TTL_MILLIS} says {@code GRANTED acquiredAt expiresAt} or {@code REFUSED}, {@code renew ID
 * TTL_MILLIS} says {@code RENEWED expiresAt}, {@code sweep} says {@code SWEPT count}.
 */
final class ZonedProcess {

    private ZonedProcess() {}

    /** Argument: what each session of the pool begins with. */
    public static void main(String[] arguments) throws IOException {
        try (Schema schema = TestDatabase.handedOver();
                HikariDataSource pool = pool(schema, arguments[0]);
                Node instance = new Node(pool, Instances.inBatchesOf(800));
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            System.out.println("READY " + TimeZone.getDefault().getID());
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                System.out.println(answer(instance, line.split(" ")));
            }
        }
    }

    static HikariDataSource pool(Schema schema, String initSql) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(schema.jdbcUrl());
        config.setUsername(schema.username());
        config.setPassword(schema.password());
        config.setMaximumPoolSize(3);
        config.setConnectionInitSql(initSql);
        return new HikariDataSource(config);
    }

    private static String answer(Node instance, String... words) {
        return switch (words[0]) {
            case "acquire" ->
                instance.semaphores()
                        .tryAcquire(AcquireRequest.of(words[1])
                                .withExternalId(words[2])
                                .withTtl(Duration.ofMillis(Long.parseLong(words[3]))))
                        .map(grant -> "GRANTED %s %s".formatted(grant.acquiredAt(), expiry(grant)))
                        .orElse("REFUSED");
            case "renew" ->
                "RENEWED " + expiry(instance.semaphores().renew(words[1], Duration.ofMillis(Long.parseLong(words[2]))));
            case "sweep" -> "SWEPT " + instance.maintenance().releaseOrphans();
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    private static String expiry(PermitGrant grant) {
        return grant.expiresAt().orElseThrow().toString();
    }
}
