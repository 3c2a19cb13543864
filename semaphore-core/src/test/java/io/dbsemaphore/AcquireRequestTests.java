package io.dbsemaphore;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AcquireRequestTests {

    @Test
    void staysAsItIsWhenACopyIsChanged() {
        AcquireRequest request = AcquireRequest.of("backup");

        List<AcquireRequest> changed = List.of(
                request.withPermits("backup", 2).withPermits("network", 3),
                request.exclusive(),
                request.withTtl(Duration.ofMinutes(1)),
                request.withShare("acme").withOwner("nightly").withLabel("full").withExternalId("id"),
                request.withReleaseAtShutdown(false));

        assertThat(changed.stream().map(AcquireRequest::permits).distinct())
                .containsExactly(Map.of("backup", 2, "network", 3), Map.of("backup", 1));
        assertThat(changed.stream().filter(AcquireRequest::isExclusive)).hasSize(1);
        assertThat(changed.stream().filter(AcquireRequest::isReleaseAtShutdown)).hasSize(4);
        assertThat(Stream.of(request.ttl(), request.share(), request.owner(), request.label(), request.externalId()))
                .allMatch(value -> value.isEmpty());
        assertThat(request.permits()).isEqualTo(Map.of("backup", 1));
        assertThat(request.isExclusive()).isFalse();
        assertThat(request.isReleaseAtShutdown()).isTrue();
    }

    @Test
    void keepsWhatWasSetBefore() {
        AcquireRequest request = AcquireRequest.of("backup")
                .withTtl(Duration.ofMinutes(1))
                .withMaxHold(Duration.ofHours(1))
                .withWaitTime(Duration.ofSeconds(5))
                .withHeadStart(Duration.ofMinutes(2))
                .withShare("acme/batch")
                .withOwner("nightly")
                .withLabel("full")
                .withExternalId("id")
                .withAdopt(true)
                .withKeepAlive(true)
                .withReleaseAtShutdown(false)
                .withPermits("network", 2);

        assertThat(request.permits()).isEqualTo(Map.of("backup", 1, "network", 2));
        assertThat(request.ttl()).contains(Duration.ofMinutes(1));
        assertThat(request.maxHold()).contains(Duration.ofHours(1));
        assertThat(request.waitTime()).contains(Duration.ofSeconds(5));
        assertThat(request.headStart()).isEqualTo(Duration.ofMinutes(2));
        assertThat(request.withHeadStart(Duration.ZERO).headStart()).as("none").isZero();
        assertThat(request.share()).contains("acme/batch");
        assertThat(request.withShare("acme").share()).contains("acme");
        assertThat(request.owner()).contains("nightly");
        assertThat(request.label()).contains("full");
        assertThat(request.externalId()).contains("id");
        assertThat(request.isAdopt()).isTrue();
        assertThat(request.keepAlive()).contains(true);
        assertThat(request.isReleaseAtShutdown()).isFalse();
    }
}
