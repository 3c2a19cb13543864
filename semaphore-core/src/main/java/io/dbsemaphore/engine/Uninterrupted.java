package io.dbsemaphore.engine;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs database work with the thread's interrupt flag put aside and set again afterwards: a flag that is set makes pools
 * refuse a connection, and on a virtual thread closes its socket.
 */
final class Uninterrupted {

    private Uninterrupted() {}

    static <T extends @Nullable Object> T call(Supplier<T> work) {
        boolean interrupted = Thread.interrupted();
        try {
            return work.get();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
