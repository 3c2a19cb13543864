package io.dbsemaphore.samples.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class OptionsTests {

    @Test
    void haveDefaults() {
        Options options = Options.parse();
        assertThat(options.urls()).isEmpty();
        assertThat(options.duration()).isEqualTo(Duration.ofMinutes(1));
        assertThat(options.clients()).containsExactly("c1", "c2", "c3");
        assertThat(options.repeating()).isEqualTo("--seed=1");
    }

    @Test
    void sayHowToRepeatARunWithoutThePassword() {
        Options options = Options.parse(
                "--seed=7", "--seconds=90", "--url=jdbc:mysql://host/db?a=b&c=d", "--user=u", "--password=p");
        assertThat(options.urls()).containsExactly("jdbc:mysql://host/db?a=b&c=d");
        assertThat(options.repeating()).isEqualTo("--seconds=90 --seed=7");
    }

    @Test
    void refuseWhatTheyDoNotKnow() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Options.parse("--second=3"))
                .withMessageContaining("--second=3");
        assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("seconds=3"));
        assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--seconds"));
        assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--seconds=soon"));
    }

    @Test
    void chooseAttacks() {
        assertThat(Options.parse().plan(true).attacks()).isEmpty();
        assertThat(Options.parse("--attacks=server-killed,client-frozen")
                        .plan(true)
                        .attacks())
                .containsExactlyInAnyOrder("server-killed", "client-frozen");
    }
}
