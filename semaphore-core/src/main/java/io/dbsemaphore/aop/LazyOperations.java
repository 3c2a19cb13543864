package io.dbsemaphore.aop;

import io.dbsemaphore.SemaphoreOperations;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The operations, asked for when they are first needed. Without a lock: the supplier usually creates a bean, under a lock
 * of its own, and a bean may be calling a guarded method while it is created. Asking twice does no harm.
 */
final class LazyOperations implements Supplier<SemaphoreOperations> {

    private final Supplier<? extends SemaphoreOperations> supplier;
    private volatile @Nullable SemaphoreOperations operations;

    LazyOperations(Supplier<? extends SemaphoreOperations> supplier) {
        this.supplier = supplier;
    }

    @Override
    public SemaphoreOperations get() {
        SemaphoreOperations known = operations;
        if (known == null) {
            known = supplier.get();
            operations = known;
        }
        return known;
    }
}
