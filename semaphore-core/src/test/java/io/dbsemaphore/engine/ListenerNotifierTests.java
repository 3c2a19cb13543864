package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.spi.SemaphoreListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ListenerNotifierTests {

    private final AtomicReference<@Nullable List<SemaphoreListener>> listeners = new AtomicReference<>();
    private final ListenerNotifier notifier = new ListenerNotifier(listeners::get);
    private final List<Integer> told = new ArrayList<>();
    private final SemaphoreListener listener = new SemaphoreListener() {
        @Override
        public void decided(Decided event) {
            told.add(event.acquires());
        }
    };

    private void tell(int number) {
        notifier.tell(each -> each.decided(new SemaphoreListener.Decided(number)));
    }

    @Test
    void tellsInOrderWhatHappenedBeforeTheListenersWereKnown() {
        tell(1);
        tell(2);
        listeners.set(List.of(listener));
        tell(3);
        tell(4);

        assertThat(told).containsExactly(1, 2, 3, 4);
    }

    @Test
    void tellsItWithoutAnotherEvent() {
        tell(1);
        notifier.tellEarly();
        assertThat(told).isEmpty();

        listeners.set(List.of(listener));
        notifier.tellEarly();
        notifier.tellEarly();

        assertThat(told).containsExactly(1);
    }

    @Test
    void keepsABoundedNumberOfEvents() {
        for (int i = 0; i < 100_000; i++) {
            tell(i);
        }
        listeners.set(List.of(listener));
        notifier.tellEarly();

        assertThat(told).hasSize(1_000).startsWith(0, 1, 2);
    }
}
