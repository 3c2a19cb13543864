package io.dbsemaphore.boot.mutex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.admin.SemaphoreName;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.util.PatternMatchUtils;

class MutexRequestsTests {

    private static final Duration TTL = Duration.ofSeconds(10);

    private final MutexRequests requests = new MutexRequests("lock:", TTL, false);

    @Test
    void nameTheSemaphoreAfterTheKey() {
        assertThat(requests.name("orders/7")).isEqualTo("lock:orders/7");
    }

    @Test
    void recognizeTheirSemaphores() {
        assertThat(List.of("lock:orders", "lock:", "lock", "orders").stream().filter(requests::isName))
                .containsExactly("lock:orders", "lock:");
    }

    /** Whatever a database could not store or tell apart from another key is hashed. */
    @Test
    void haveAValidNameOfItsOwnForEachKey() {
        String maximal = "x".repeat(SemaphoreName.MAX_LENGTH - "lock:".length());
        List<String> keys = List.of(
                "a",
                "A",
                " a",
                "a ",
                "a\n",
                "a\u0000",
                "",
                " ",
                "\t",
                maximal,
                maximal + "x",
                maximal + "y",
                "\ud800",
                "\ud801",
                "?",
                "\ufffd",
                requests.name("").substring("lock:".length()),
                "sha256:",
                "sha256:a",
                "é",
                "e\u0301",
                "😀",
                "a*");

        assertThat(keys.stream().map(requests::name))
                .doesNotHaveDuplicates()
                .allSatisfy(SemaphoreName::requireValid)
                .allMatch(name -> PatternMatchUtils.simpleMatch(requests.pattern(), name));
    }

    @Test
    void askForTheWholeCapacity() {
        AcquireRequest request = requests.of("orders", TTL);

        assertThat(request.isExclusive()).isEqualTo(true);
        assertThat(request.ttl()).contains(TTL);
        assertThat(request.waitTime()).contains(Duration.ZERO);
    }

    @Test
    void lastForTheMinimumWhereLessIsAskedFor() {
        assertThat(requests.of("orders", Duration.ofMillis(2)).ttl()).contains(AcquireRequest.MIN_TTL);
    }

    @Test
    void outliveTheInstanceUnlessItKeepsThemAlive() {
        AcquireRequest keptAlive = new MutexRequests("lock:", TTL, true).of("orders", TTL);

        assertThat(requests.of("orders", TTL).isReleaseAtShutdown()).isEqualTo(false);
        assertThat(requests.of("orders", TTL).keepAlive()).contains(false);
        assertThat(keptAlive.isReleaseAtShutdown()).isEqualTo(true);
        assertThat(keptAlive.keepAlive()).contains(true);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", " x", "lock*", "lock\n"})
    void refuseAPrefixThatCannotBeginAName(String prefix) {
        assertThatIllegalArgumentException().isThrownBy(() -> new MutexRequests(prefix, TTL, false));
    }

    @Test
    void refuseAPrefixThatLeavesNoRoomForAHash() {
        String longest = "x".repeat(119);

        assertThat(new MutexRequests(longest, TTL, false).name("")).hasSize(SemaphoreName.MAX_LENGTH);
        assertThatIllegalArgumentException().isThrownBy(() -> new MutexRequests(longest + "x", TTL, false));
    }

    @Test
    void refuseATimeToLiveThatIsTooShort() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new MutexRequests("lock:", Duration.ofMillis(999), false))
                .withMessageContaining("PT1S");
    }
}
