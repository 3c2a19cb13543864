package io.dbsemaphore.tools.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.tools.faults.attack.Pace;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
    void refuseAnEarlierBuildWithoutTheLibrary(@TempDir Path directory) {
        String library = SemaphoreEngine.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .getPath();
        assertThat(Options.parse("--earlier=" + directory + File.pathSeparator + library)
                        .plan(true)
                        .earlierBuild())
                .endsWith(library);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Options.parse("--earlier=" + directory))
                .withMessageContaining("semaphore-core")
                .withMessageContaining(directory.toString());
    }

    @Test
    void chooseAttacks() {
        assertThat(Options.parse().plan(true).attacks()).isEmpty();
        assertThat(Options.parse("--attacks=server-killed,client-frozen")
                        .plan(true)
                        .attacks())
                .containsExactlyInAnyOrder("server-killed", "client-frozen");
    }

    @Test
    void repeatSomeAttacksMoreOften() {
        Options options = Options.parse("--pace=1.3,client-killed=0.5,client-frozen=2");
        assertThat(options.plan(true).pace())
                .isEqualTo(new Pace(1.3, Map.of("client-killed", 0.5, "client-frozen", 2.0)));
        assertThat(options.repeating()).isEqualTo("--pace=1.3,client-killed=0.5,client-frozen=2 --seed=1");
        assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--pace=1,client-killed"));
    }
}
