package io.dbsemaphore.samples.benchmark.approach;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.config.SemaphoreSettings;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LibraryBuildTests {

    @Test
    void setsTheTablePrefixInSettingsOfEarlyBuilds() throws Exception {
        assertThat(LibraryBuild.withTablePrefix(new Settings("jvm", "", Duration.ofSeconds(5), true), "bench_"))
                .isEqualTo(new Settings("jvm", "bench_", Duration.ofSeconds(5), true));
    }

    @Test
    void setsTheTablePrefixInSettingsOfTheCurrentBuild() throws Exception {
        assertThat(LibraryBuild.withTablePrefix(SemaphoreSettings.defaults(), "bench_"))
                .isInstanceOfSatisfying(
                        SemaphoreSettings.class,
                        settings -> assertThat(settings.get(SemaphoreSettings.TABLE_PREFIX))
                                .isEqualTo("bench_"));
    }

    public record Settings(String owner, String tablePrefix, Duration ttl, boolean gathering) {}
}
