package io.dbsemaphore.engine.support;

import io.dbsemaphore.SemaphoreListener;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells all listeners. One that throws keeps neither the others from hearing it nor the permits from their way. */
public final class ListenerNotifier {

    private static final Logger log = LoggerFactory.getLogger(ListenerNotifier.class);

    private final Supplier<List<SemaphoreListener>> listeners;

    /**
     * Creates the listeners.
     *
     * @param listeners asked with each event: a listener may itself need what is made of the engine
     */
    public ListenerNotifier(Supplier<List<SemaphoreListener>> listeners) {
        this.listeners = listeners;
    }

    public void tell(Consumer<SemaphoreListener> event) {
        for (SemaphoreListener listener : current()) {
            try {
                event.accept(listener);
            } catch (Throwable failure) { // an acquire that threw here would leave its permits behind
                warn(() -> log.warn("The semaphore listener {} threw; that changes nothing", listener, failure));
            }
        }
    }

    private List<SemaphoreListener> current() {
        try {
            return listeners.get();
        } catch (Throwable failure) {
            warn(() -> log.warn("The semaphore listeners cannot be had, and so are told nothing", failure));
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
