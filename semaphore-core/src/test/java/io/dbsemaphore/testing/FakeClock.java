package io.dbsemaphore.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/**
 * The wall clock of a process that differs from the machine's, by libfaketime. Monotonic clocks and timed waits are left alone; without the
 * last of the settings the timed waits of a JVM would return at once.
 */
public final class FakeClock {

    /** Where Debian's package {@code libfaketime} puts the variant for processes with threads. */
    private static final Path LIBRARY = Path.of("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1");

    private FakeClock() {}

    /** Whether a process can have such a clock on this machine. */
    public static boolean isInstalled() {
        return Files.isReadable(LIBRARY);
    }

    /** The environment of a process whose clock is ahead of the machine's, or behind it. */
    public static Map<String, String> environment(Duration ahead) {
        return Map.of(
                "LD_PRELOAD",
                LIBRARY.toString(),
                "FAKETIME",
                "%+d".formatted(ahead.toSeconds()),
                "FAKETIME_DONT_FAKE_MONOTONIC",
                "1",
                "FAKETIME_FORCE_MONOTONIC_FIX",
                "0");
    }
}
