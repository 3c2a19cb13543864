package io.dbsemaphore.tools.benchmark.delay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ServerUrlTests {

    @ParameterizedTest
    @CsvSource({
        "jdbc:mysql://db:3307/semaphore?a=b&c=d, db, 3307, jdbc:mysql://localhost:99/semaphore?a=b&c=d",
        "jdbc:mariadb://10.0.0.1/semaphore, 10.0.0.1, 3306, jdbc:mariadb://localhost:99/semaphore",
        "jdbc:postgresql://db.example.org/semaphore, db.example.org, 5432, jdbc:postgresql://localhost:99/semaphore",
        "redis://localhost, localhost, 6379, redis://localhost:99",
        "redis://:secret@cache:6380/0, cache, 6380, redis://:secret@localhost:99/0"
    })
    void leadsThroughAProxy(String url, String host, int port, String throughPort99) {
        assertThat(new ServerUrl(url).address()).isEqualTo(InetSocketAddress.createUnresolved(host, port));
        assertThat(new ServerUrl(url).through(99)).isEqualTo(throughPort99);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:mysql://one,two/semaphore",
                "jdbc:postgresql:semaphore",
                "jdbc:h2:mem:a",
                "jdbc:mysql:loadbalance://a/b"
            })
    void refusesWhatDoesNotNameOneServer(String url) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ServerUrl(url))
                .withMessageContaining("one host");
    }

    @Test
    void doesNotTellPasswords() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ServerUrl("jdbc:mysql://one,two/semaphore?password=secret"))
                .withMessageEndingWith("jdbc:mysql://one,two/semaphore");
    }
}
