package io.dbsemaphore.samples.faults.oracle;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPOutputStream;

/** All events of a run in a compressed file, each with its time, so that a finding can be understood. Not thread-safe. */
final class EventLog implements AutoCloseable {

    private final BufferedWriter writer;

    EventLog(Path file) throws IOException {
        writer = new BufferedWriter(new OutputStreamWriter(
                new GZIPOutputStream(Files.newOutputStream(file), 1 << 16), StandardCharsets.UTF_8));
    }

    void write(Event event) {
        try {
            writer.write(Oracle.time(event.nanos()));
            writer.write('\t');
            writer.write(event.encode());
            writer.write('\n');
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        writer.close();
    }
}
