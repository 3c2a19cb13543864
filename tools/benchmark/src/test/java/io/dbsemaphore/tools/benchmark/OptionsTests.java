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
        assertThat(options.approaches()).hasSize(9).doesNotContain(Approach.REDISSON);
        assertThat(options.delays()).containsExactly(Duration.ZERO);
        assertThat(options.rounds()).isEqualTo(5);
    }

    @Test
    void shortenRoundsWhenQuick() {
        assertThat(Options.parse("--quick").length(Scenario.HELD)).isEqualTo(Duration.ofMillis(700));
        assertThat(Options.parse("--quick", "--seconds=0.5").length(Scenario.HELD))
                .isEqualTo(Duration.ofMillis(500));
        assertThat(Options.parse("--rounds=7", "--quick").rounds()).isEqualTo(7);
    }

    @Test
    void giveTheScenarioInStepLongerRoundsUnlessTheirLengthIsSet() {
        assertThat(Options.parse().length(Scenario.REUSE_1000)).isEqualTo(Duration.ofSeconds(5));
        assertThat(Options.parse().length(Scenario.REUSE_1000_IN_STEP)).isEqualTo(Duration.ofSeconds(15));
        assertThat(Options.parse("--seconds=2").length(Scenario.REUSE_1000_IN_STEP))
                .isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void takeDelays() {
        assertThat(Options.parse("--delay=0,500us,2ms,0.5ms").delays())
                .containsExactly(Duration.ZERO, Duration.ofNanos(500_000), Duration.ofMillis(2));
        assertThat(Options.parse("--delay=1.5ms").delays()).containsExactly(Duration.ofNanos(1_500_000));
        for (String delay : List.of("", "5", "-1ms", "1s", "0,,1ms", "1001ms", "500us,")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Options.parse("--delay=" + delay))
                    .withMessageContaining("--delay=" + delay + ":");
        }
    }

    @Test
    void leaveOutPlainStatementsWhereTheDriverSendsThemOneByOne() {
        assertThat(Options.parse("--url=jdbc:mariadb://host/db").approaches())
                .doesNotContain(Approach.PLAIN_STATEMENTS);
        assertThat(Options.parse("--url=jdbc:postgresql://host/db").approaches())
                .contains(Approach.PLAIN_STATEMENTS);
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
        assertThat(options.approaches()).doesNotContain(Approach.PLAIN_STATEMENTS);
        assertThat(options.rounds()).isEqualTo(3);
        assertThat(options.length(Scenario.ONE_THREAD)).isEqualTo(Duration.ofSeconds(2));
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
