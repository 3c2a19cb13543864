package io.dbsemaphore.engine.support;

import io.dbsemaphore.SemaphoreListener;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Notifies all listeners. A listener that throws affects neither the other listeners nor the acquire or release. */
public final class ListenerNotifier {

    private static final Logger log = LoggerFactory.getLogger(ListenerNotifier.class);

    private final Supplier<List<SemaphoreListener>> listeners;

    /**
     * Makes a notifier.
     *
     * @param listeners supplies the listeners for each event, since a listener may itself depend on the engine
     */
    public ListenerNotifier(Supplier<List<SemaphoreListener>> listeners) {
        this.listeners = listeners;
    }

    public void tell(Consumer<SemaphoreListener> event) {
        for (SemaphoreListener listener : current()) {
            try {
                event.accept(listener);
            } catch (Throwable failure) { // an acquire that threw here would not release its permits
                warn(() ->
                        log.warn("The semaphore listener {} threw an exception, which is ignored", listener, failure));
            }
        }
    }

    private List<SemaphoreListener> current() {
        try {
            return listeners.get();
        } catch (Throwable failure) {
            warn(() -> log.warn("The semaphore listeners cannot be obtained, so they are not notified", failure));
            return List.of();
        }
    }

    private static void warn(Runnable warning) {
        try {
            warning.run();
        } catch (Throwable notEvenThat) {
            // short of memory or of stack, as the listener was
        }
    }
}
