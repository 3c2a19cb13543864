package io.dbsemaphore.tools.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dbsemaphore.tools.benchmark.approach.Approach;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class OptionsTests {

    @Test
    void measureEverythingInAContainerByDefault() {
        Options options = Options.parse();
        assertThat(options.target().url()).isEmpty();
        assertThat(options.scenarios()).containsExactlyElementsOf(EnumSet.complementOf(EnumSet.of(Scenario.WARM_UP)));
        assertThat(options.approaches()).hasSize(6).doesNotContain(Approach.REDISSON);
        assertThat(options.rounds()).isEqualTo(5);
    }

    @Test
    void shortenRoundsWhenQuick() {
        assertThat(Options.parse("--quick").length()).isEqualTo(Duration.ofMillis(700));
        assertThat(Options.parse("--quick", "--seconds=0.5").length()).isEqualTo(Duration.ofMillis(500));
        assertThat(Options.parse("--rounds=7", "--quick").rounds()).isEqualTo(7);
    }

    @Test
    void takeUrlWithItsParameters() {
        Options options = Options.parse("--url=jdbc:mysql://host/db?a=b&c=d", "--user=u");
        assertThat(options.target().url()).isEqualTo("jdbc:mysql://host/db?a=b&c=d");
        assertThat(options.target().user()).isEqualTo("u");
    }

    @Test
    void chooseScenariosAndApproaches() {
        Options options =
                Options.parse("--only=held,1-thread", "--approaches=redisson,db-semaphore", "--redis=redis://r:6379");
        assertThat(options.scenarios()).containsExactly(Scenario.ONE_THREAD, Scenario.HELD);
        assertThat(options.approaches()).containsExactly(Approach.DB_SEMAPHORE, Approach.REDISSON);
    }

    @Test
    void measureWhatThePictureShows() {
        Options options = Options.parse("--svg=target/benchmark.svg", "--seconds=2");
        assertThat(options.svg()).isEqualTo(Path.of("target/benchmark.svg"));
        assertThat(options.scenarios()).containsExactlyElementsOf(Picture.SCENARIOS);
        assertThat(options.rounds()).isEqualTo(3);
        assertThat(options.length()).isEqualTo(Duration.ofSeconds(2));
        assertThat(options.redraws()).isFalse();
        assertThat(Options.parse("--redraw", "--svg=a.svg").redraws()).isTrue();
        assertThat(Options.parse().svg()).isNull();
    }

    @Test
    void refuseAPictureThatCannotBeWritten() {
        for (String argument :
                List.of("--svg", "--svg=", "--svg=picture.png", "--svg=nowhere/picture.svg", "--redraw")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Options.parse(argument))
                    .withMessageContaining("--svg=");
        }
    }

    @Test
    void refuseWhatTheyDoNotKnow() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Options.parse("--threads=3"))
                .withMessageContaining("--threads=3");
        assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("quick"));
        assertThatIllegalArgumentException().isThrownBy(() -> Options.parse("--round=3"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Options.parse("--only=held,heap"))
                .withMessageContaining("history");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Options.parse("--approaches=semaphore"))
                .withMessageContaining("db-semaphore");
    }
}
