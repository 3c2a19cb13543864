package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.spi.OwnerLiveness;
import io.dbsemaphore.spi.SemaphoreListener;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * The beans that the engine calls. They are looked up when all beans have been created, on the thread that creates them: a thread
 * of the library that looked up a bean earlier would wait for a thread that creates one, which may be waiting for a permit.
 */
final class ListenerBeans implements SmartInitializingSingleton {

    private final ObjectProvider<SemaphoreListener> listenerBeans;
    private final ObjectProvider<OwnerLiveness> livenessBeans;
    private volatile @Nullable List<SemaphoreListener> listeners;
    private volatile List<OwnerLiveness> ownerLiveness = List.of();

    ListenerBeans(ObjectProvider<SemaphoreListener> listenerBeans, ObjectProvider<OwnerLiveness> livenessBeans) {
        this.listenerBeans = listenerBeans;
        this.livenessBeans = livenessBeans;
    }

    @Override
    public void afterSingletonsInstantiated() {
        ownerLiveness = livenessBeans.orderedStream().toList();
        listeners = listenerBeans.orderedStream().toList();
    }

    /** The listeners; null until all beans have been created. */
    @Nullable List<SemaphoreListener> listeners() {
        return listeners;
    }

    /** The liveness checks; none until all beans have been created. */
    List<OwnerLiveness> ownerLiveness() {
        return ownerLiveness;
    }
}
