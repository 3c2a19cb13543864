package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

import com.example.ledger.LedgerApplication;
import com.example.orders.OrdersApplication;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The analysis of a database that does not answer, whichever part of the application notices first. */
@ExtendWith(OutputCaptureExtension.class)
class UnreachableDatabaseTests {

    static Stream<Arguments> hosts() {
        return Stream.of(
                Arguments.of(Hosts.OnDataSource.class, new String[] {}),
                Arguments.of(Hosts.OnDataSource.class, new String[] {"semaphore.liquibase.enabled=true"}),
                Arguments.of(LedgerApplication.class, new String[] {
                    "spring.liquibase.enabled=false",
                    "spring.sql.init.mode=always",
                    "spring.sql.init.schema-locations=classpath:com/example/ledger/schema.sql"
                }),
                Arguments.of(
                        OrdersApplication.class,
                        new String[] {"spring.liquibase.change-log=classpath:com/example/orders/changelog.xml"}));
    }

    @ParameterizedTest
    @MethodSource("hosts")
    void isNamedWithWhatToCheck(Class<?> application, String[] properties, CapturedOutput output) throws IOException {
        int port;
        try (ServerSocket closed = new ServerSocket(0)) {
            port = closed.getLocalPort();
        }

        assertThatException()
                .isThrownBy(() -> Hosts.start(
                        application,
                        Stream.concat(
                                        Stream.of(properties),
                                        Stream.of(
                                                "spring.datasource.url=jdbc:mysql://joe:secret@localhost:" + port
                                                        + "/app?password=secret",
                                                "spring.datasource.password=secret",
                                                "spring.datasource.hikari.connection-timeout=250"))
                                .toArray()));

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("jdbc:mysql://localhost:" + port + "/app")
                .contains("Connection refused");
    }
}
