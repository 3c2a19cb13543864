package io.dbsemaphore.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.Slow;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tlc2.TLC;

/** Checks the model of the protocol in {@code docs/model} with TLC, in a process of its own. */
@Slow
@Timeout(value = 400, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ProtocolModelIntegrationTests {

    private static final Path MODEL = Path.of("..", "docs", "model");
    private static final String REQUESTS = "ThreeInstances";
    private static final String QUOTAS = "TwoInstances";

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {REQUESTS, QUOTAS})
    void keepsItsPromisesInEveryState(String module) throws Exception {
        assertThat(check(module, configuration(module)))
                .contains("Model checking completed. No error has been found.")
                .contains("0 states left on queue");
    }

    @ParameterizedTest
    @CsvSource({
        REQUESTS + ", LocksRow,           Invariant NeverOverCapacity is violated",
        REQUESTS + ", LeavesTombstone,    Invariant NoPermitLost is violated",
        REQUESTS + ", SkipsChecked,       a stale write",
        REQUESTS + ", RaisesFence,        Invariant TokensRise is violated",
        REQUESTS + ", HonoursQueue,       a caller was overtaken",
        REQUESTS + ", RechecksWaiters,    a caller was overtaken",
        QUOTAS + ",   ConfirmsUses,       a use began although its permits were gone",
        QUOTAS + ",   CountsFromQuestion, a use began although its permits were gone",
        QUOTAS + ",   CountsIdle,         Invariant UsedWithinCapacity is violated",
        QUOTAS + ",   LeavesMarks,        Invariant RefusedIsHeard is violated",
        QUOTAS + ",   HeedsMarks,         Invariant RefusedIsHeard is violated",
    })
    void breaksAPromiseWithoutEachOfItsRules(String module, String rule, String violation) throws Exception {
        String without = configuration(module).replace(rule + " = TRUE", rule + " = FALSE");

        assertThat(without).isNotEqualTo(configuration(module));
        assertThat(check(module, without)).contains(violation);
    }

    private static String configuration(String module) throws IOException {
        return Files.readString(MODEL.resolve(module + ".cfg"));
    }

    private String check(String module, String configuration) throws Exception {
        for (String each : List.of("Semaphore", "Quotas", module)) {
            Files.copy(MODEL.resolve(each + ".tla"), directory.resolve(each + ".tla"));
        }
        Files.writeString(directory.resolve("check.cfg"), configuration);
        File output = directory.resolve("output.txt").toFile();
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Path jar = Path.of(
                TLC.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        List<String> command = List.of(
                java,
                "-Xmx600m",
                "-XX:+UseParallelGC",
                "-cp",
                jar.toString(),
                TLC.class.getName(),
                "-workers",
                "auto",
                "-config",
                "check.cfg",
                module);
        Process tlc = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output)
                .start();
        tlc.getOutputStream().close();
        try {
            assertThat(tlc.waitFor(300, TimeUnit.SECONDS)).as("TLC has ended").isEqualTo(true);
        } finally {
            tlc.destroyForcibly();
        }
        return Files.readString(output.toPath());
    }
}
