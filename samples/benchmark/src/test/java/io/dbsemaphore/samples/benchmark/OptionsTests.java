package io.dbsemaphore.samples.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class OptionsTests {

    @Test
    void measuresAllInAContainerByDefault() {
        Options options = Options.parse();
        assertThat(options.target()).isEmpty();
        assertThat(options.redis()).isNull();
        assertThat(options.only()).hasSize(10);
        assertThat(options.rounds()).isEqualTo(5);
    }

    @Test
    void shortensRoundsWhenQuick() {
        assertThat(Options.parse("--quick").length()).isEqualTo(Duration.ofMillis(700));
        assertThat(Options.parse("--quick", "--seconds=0.5").length()).isEqualTo(Duration.ofMillis(500));
    }

    @Test
    void takesUrlWithItsParameters() {
        assertThat(Options.parse("--url=jdbc:mysql://host/db?a=b&c=d", "--user=u")
                        .target())
                .hasValueSatisfying(target -> {
                    assertThat(target.url()).isEqualTo("jdbc:mysql://host/db?a=b&c=d");
                    assertThat(target.user()).isEqualTo("u");
                });
    }

    @Test
    void refusesWhatItDoesNotKnow() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Options.parse("--threads=3"))
                .withMessageContaining("--threads=3");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Options.parse("--only=held,heap"))
                .withMessageContaining("history");
    }
}
