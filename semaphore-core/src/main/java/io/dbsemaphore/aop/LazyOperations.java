package io.dbsemaphore.aop;

import io.dbsemaphore.SemaphoreOperations;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Supplies the operations, and looks them up on first use. Uses no lock: the supplier usually creates a bean under a
 * lock of Spring's, and a bean may call a guarded method while it is being created. A repeated look-up is harmless.
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
