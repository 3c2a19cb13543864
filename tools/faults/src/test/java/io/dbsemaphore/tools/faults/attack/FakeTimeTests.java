package io.dbsemaphore.tools.faults.attack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FakeTimeTests {

    private static final long HOUR = Duration.ofHours(1).toMillis();
    private static final long PAUSE = Duration.ofMillis(100).toNanos();

    /** In a process of its own: tells the wall clock, and how long a pause takes, for each byte that it reads. */
    public static void main(String[] arguments) throws IOException {
        while (System.in.read() >= 0) {
            long begin = System.nanoTime();
            LockSupport.parkNanos(PAUSE);
            System.out.println(System.currentTimeMillis() + " " + (System.nanoTime() - begin));
        }
    }

    @Test
    void stepsTheWallClockOfAJvmAndNothingElse(@TempDir Path directory) throws Exception {
        assumeThat(FakeTime.isInstalled()).as("libfaketime").isTrue();
        FakeTime clock = new FakeTime(directory.resolve("clock"));
        ProcessBuilder java = new ProcessBuilder(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                FakeTimeTests.class.getName()));
        java.environment()
                .put(
                        "CLASSPATH",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
        java.environment().putAll(clock.environment());
        Process process = java.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader answers =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (long hours : new long[] {1, -1, 0}) {
                clock.step(hours * HOUR / 1000);
                awaitAhead(hours, process, answers);
            }
        } finally {
            process.destroyForcibly();
        }
    }

    private static void awaitAhead(long hours, Process process, BufferedReader answers) throws IOException {
        for (long end = System.nanoTime() + Duration.ofSeconds(20).toNanos(); true; ) {
            process.getOutputStream().write('.');
            process.getOutputStream().flush();
            String[] answer = answers.readLine().split(" ", 2);
            assertThat(Long.parseLong(answer[1])).as("nanoseconds of a pause").isGreaterThan(PAUSE / 2);
            long ahead = Long.parseLong(answer[0]) - System.currentTimeMillis();
            if (Math.abs(ahead - hours * HOUR) < HOUR / 2) {
                return;
            }
            assertThat(System.nanoTime()).as("still %d ms ahead", ahead).isLessThan(end);
        }
    }
}
