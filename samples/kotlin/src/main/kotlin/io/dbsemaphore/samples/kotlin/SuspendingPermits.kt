package io.dbsemaphore.samples.kotlin

import io.dbsemaphore.AcquireRequest
import io.dbsemaphore.PermitGrant
import io.dbsemaphore.SemaphoreOperations
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.future.await
import kotlinx.coroutines.withContext

/**
 * Acquires without a waiting thread, runs [work], and releases when it has ended, however it ends. The grant is kept
 * alive meanwhile.
 */
suspend fun <T> SemaphoreOperations.withPermits(request: AcquireRequest, work: suspend (PermitGrant) -> T): T {
    val acquire = acquireAsync(request.withKeepAlive(true))
    try {
        return work(acquire.await())
    } finally {
        // A cancelled caller may have missed a grant that was on its way
        if (!acquire.cancel(true) && !acquire.isCompletedExceptionally) {
            withContext(NonCancellable + Dispatchers.IO) { acquire.join().close() }
        }
    }
}
