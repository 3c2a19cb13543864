package io.dbsemaphore.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ChildJvmTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    @Test
    void talksInLines() {
        try (ChildJvm child = ChildJvm.start(EchoMain.class, Map.of("greeting", "good day"), "first", "second")) {
            assertThat(child.awaitLine("arguments", TIMEOUT)).isEqualTo("arguments first second");
            assertThat(child.awaitLine("good", TIMEOUT)).isEqualTo("good day");

            child.send("hällo");
            assertThat(child.awaitLine("echo", TIMEOUT)).isEqualTo("echo hällo");

            child.send("exit");
            assertThat(child.awaitExit(TIMEOUT)).isEqualTo(3);
        }
    }

    @Test
    void showsItsOutputWhenALineDoesNotCome() {
        try (ChildJvm child = ChildJvm.start(EchoMain.class, Map.of("greeting", "good day"))) {
            child.awaitLine("good", TIMEOUT);

            assertThatThrownBy(() -> child.awaitLine("farewell", Duration.ofMillis(20)))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("farewell")
                    .hasMessageContaining("] good day");
        }
    }

    @Test
    void failsAtOnceWhenItHasEnded() {
        try (ChildJvm child = ChildJvm.start(EchoMain.class, Map.of("greeting", "good day"))) {
            child.awaitLine("good", TIMEOUT);
            child.send("exit");

            assertThatThrownBy(() -> child.awaitLine("farewell", TIMEOUT))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageNotContaining("within");
        }
    }

    @Test
    void isKilledAtOnce() {
        try (ChildJvm child = ChildJvm.start(EchoMain.class, Map.of("greeting", "good day"))) {
            child.awaitLine("good", TIMEOUT);

            child.kill9();

            assertThat(child.isAlive()).isFalse();
            assertThat(child.output()).doesNotContain("shutdown hook");
        }
    }

    @Test
    void runsItsShutdownHooksWhenTerminated() {
        try (ChildJvm child = ChildJvm.start(EchoMain.class, Map.of("greeting", "good day"))) {
            child.awaitLine("good", TIMEOUT);

            child.terminate();

            child.awaitLine("shutdown hook", TIMEOUT);
        }
    }

    @Test
    void saysNothingWhileItIsFrozen() {
        try (ChildJvm child = ChildJvm.start(EchoMain.class, Map.of("greeting", "good day"))) {
            child.awaitLine("good", TIMEOUT);
            child.stop();
            child.send("later");

            assertThatThrownBy(() -> child.awaitLine("echo", Duration.ofMillis(200)))
                    .isInstanceOf(AssertionError.class);

            child.cont();
            assertThat(child.awaitLine("echo", TIMEOUT)).isEqualTo("echo later");
        }
    }

    static final class EchoMain {

        public static void main(String[] arguments) throws IOException {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> say("shutdown hook")));
            say(System.getProperty("greeting"));
            say("arguments " + String.join(" ", arguments));
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.equals("exit")) {
                    System.exit(3);
                }
                say("echo " + line);
            }
        }

        private static void say(String line) {
            byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
            System.out.write(bytes, 0, bytes.length);
            System.out.flush();
        }
    }
}
