package io.dbsemaphore.tools.benchmark.delay;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One direction of a connection. One thread reads, another one writes each burst when its time has come: bursts that follow
 * each other closely travel together, so that the delay limits no throughput.
 */
final class Direction {

    private static final int BUFFER = 65_536;
    private static final int BURSTS = 1_024;
    private static final Burst END = new Burst(new byte[0], 0);

    private record Burst(byte[] bytes, long due) {}

    private final Socket from;
    private final Socket to;
    private final long delayNanos;
    private final Alarm alarm;
    private final AtomicInteger open;
    private final Runnable onBurst;
    private final BlockingQueue<Burst> travelling = new LinkedBlockingQueue<>(BURSTS);

    /**
     * A direction that is not used yet.
     *
     * @param open how many directions of the connection have not ended; the last one closes both sockets
     * @param onBurst called when something was read, before it can arrive
     */
    Direction(Socket from, Socket to, long delayNanos, Alarm alarm, AtomicInteger open, Runnable onBurst) {
        this.from = from;
        this.to = to;
        this.delayNanos = delayNanos;
        this.alarm = alarm;
        this.open = open;
        this.onBurst = onBurst;
    }

    void start(String name) {
        start(name + " reads", this::read);
        start(name + " writes", this::write);
    }

    private static void start(String name, Loop loop) {
        Thread thread = new Thread(
                () -> {
                    try {
                        loop.run();
                    } catch (InterruptedException interrupt) {
                        Thread.currentThread().interrupt(); // nobody does that
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
    }

    private void read() throws InterruptedException {
        try {
            InputStream in = from.getInputStream();
            byte[] buffer = new byte[BUFFER];
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                long due = System.nanoTime() + delayNanos;
                onBurst.run();
                travelling.put(new Burst(Arrays.copyOf(buffer, length), due));
            }
        } catch (IOException broken) {
            // the other side gets what was read, and the end of the stream
        }
        travelling.put(END);
    }

    private void write() throws InterruptedException {
        try {
            OutputStream out = to.getOutputStream();
            for (Burst burst = travelling.take(); burst != END; burst = travelling.take()) {
                alarm.await(burst.due);
                out.write(burst.bytes);
            }
            to.shutdownOutput();
        } catch (IOException broken) {
            close(from); // its reader ends
            while (travelling.take() != END) {
                // nobody wants it any more
            }
        }
        if (open.decrementAndGet() == 0) {
            close(from);
            close(to);
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException broken) {
            // it is closed all the same
        }
    }

    private interface Loop {
        void run() throws InterruptedException;
    }
}
