package io.dbsemaphore.tools.faults.attack;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;

/**
 * Steps of the wall clock of one process, by libfaketime. Monotonic clocks and timed waits are left alone; without the last of the
 * settings the timed waits of a JVM, which are relative to its monotonic clock, would return at once.
 */
public final class FakeTime {

    /** Where Debian's package {@code libfaketime} puts the variant for processes with threads. */
    public static final Path LIBRARY = Path.of("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1");
    /** For how long a process may still use the clock before a step. */
    static final long CACHED_MILLIS = 1000;

    private final Path clock;

    FakeTime(Path clock) {
        this.clock = clock;
        step(0);
    }

    /** The environment of a process with this clock. */
    Map<String, String> environment() {
        return environment(LIBRARY.toString(), clock.toAbsolutePath().toString());
    }

    static Map<String, String> environment(String library, String clock) {
        return Map.of(
                "LD_PRELOAD",
                library,
                "FAKETIME_TIMESTAMP_FILE",
                clock,
                "FAKETIME_CACHE_DURATION",
                String.valueOf(CACHED_MILLIS / 1000),
                "FAKETIME_DONT_FAKE_MONOTONIC",
                "1",
                "FAKETIME_FORCE_MONOTONIC_FIX",
                "0");
    }

    /** The content of the file of a clock that is so many seconds ahead. */
    static String ahead(long seconds) {
        return "%+d".formatted(seconds);
    }

    /** From now on, or a second later, the clock is so many seconds ahead of the machine's. */
    void step(long seconds) {
        try {
            Path next = clock.resolveSibling(clock.getFileName() + ".next");
            Files.writeString(next, ahead(seconds) + "\n");
            Files.move(next, clock, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether clocks can be stepped on this machine. */
    public static boolean isInstalled() {
        return Files.isReadable(LIBRARY);
    }
}
