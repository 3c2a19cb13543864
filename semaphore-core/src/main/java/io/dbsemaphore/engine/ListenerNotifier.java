package io.dbsemaphore.engine;

import io.dbsemaphore.spi.SemaphoreListener;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies all listeners. An exception of one affects neither the other listeners nor the acquire or release. Events that occur
 * before the listeners are known are kept, and delivered later.
 */
final class ListenerNotifier {

    private static final Logger log = LoggerFactory.getLogger(ListenerNotifier.class);

    private static final int MAX_EARLY = 1_000;

    private final Supplier<@Nullable List<SemaphoreListener>> listeners;
    private final Queue<Consumer<SemaphoreListener>> early = new LinkedBlockingQueue<>(MAX_EARLY);

    /**
     * Creates a notifier.
     *
     * @param listeners supplies the listeners, for each event anew, because a listener may depend on the engine; null while they are not
     *     known
     */
    ListenerNotifier(Supplier<@Nullable List<SemaphoreListener>> listeners) {
        this.listeners = listeners;
    }

    void tell(Consumer<SemaphoreListener> event) {
        List<SemaphoreListener> known = current();
        if (known == null) {
            early.offer(event);
            tellEarly(); // they may have become known meanwhile
        } else {
            tellEarly(known);
            tell(event, known);
        }
    }

    /** Delivers the events that were kept, if the listeners are known by now. */
    void tellEarly() {
        List<SemaphoreListener> known = current();
        if (known != null) {
            tellEarly(known);
        }
    }

    private void tellEarly(List<SemaphoreListener> known) {
        for (Consumer<SemaphoreListener> event = early.poll(); event != null; event = early.poll()) {
            tell(event, known);
        }
    }

    private static void tell(Consumer<SemaphoreListener> event, List<SemaphoreListener> listeners) {
        for (SemaphoreListener listener : listeners) {
            try {
                event.accept(listener);
            } catch (Throwable failure) { // thrown, it would hide the grant from the caller
                log.warn("The semaphore listener {} threw an exception, which is ignored", listener, failure);
            }
        }
    }

    private @Nullable List<SemaphoreListener> current() {
        try {
            return listeners.get();
        } catch (Throwable failure) { // as above
            log.warn("The semaphore listeners cannot be obtained, so they are not notified", failure);
            return List.of();
        }
    }
}
