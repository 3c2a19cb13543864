package io.dbsemaphore.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.Slow;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tlc2.TLC;

/** Checks the model of the protocol in {@code docs/model} with TLC, in a process of its own. */
@Slow
@Timeout(value = 400, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ProtocolModelIntegrationTests {

    private static final Path MODEL = Path.of("..", "docs", "model");
    private static final String MODULE = "ThreeInstances";

    @TempDir
    private Path directory;

    @Test
    void keepsItsPromisesInEveryState() throws Exception {
        assertThat(check(configuration()))
                .contains("Model checking completed. No error has been found.")
                .contains("0 states left on queue");
    }

    @ParameterizedTest
    @CsvSource({
        "LocksRow,        Invariant NeverOverCapacity is violated",
        "LeavesTombstone, Invariant NoPermitLost is violated",
        "SkipsChecked,    a stale write",
        "RaisesFence,     Invariant TokensRise is violated",
        "HonoursQueue,    a caller was overtaken",
    })
    void breaksAPromiseWithoutEachOfItsRules(String rule, String violation) throws Exception {
        String without = configuration().replace(rule + " = TRUE", rule + " = FALSE");

        assertThat(without).isNotEqualTo(configuration());
        assertThat(check(without)).contains(violation);
    }

    private static String configuration() throws IOException {
        return Files.readString(MODEL.resolve(MODULE + ".cfg"));
    }

    private String check(String configuration) throws Exception {
        for (String module : List.of("Semaphore", MODULE)) {
            Files.copy(MODEL.resolve(module + ".tla"), directory.resolve(module + ".tla"));
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
                MODULE);
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
