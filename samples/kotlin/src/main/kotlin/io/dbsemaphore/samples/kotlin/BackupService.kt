package io.dbsemaphore.samples.kotlin

import io.dbsemaphore.AcquireRequest
import io.dbsemaphore.SemaphoreOperations
import io.dbsemaphore.annotation.OnUnavailable
import io.dbsemaphore.annotation.WithPermits
import java.time.Duration
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import org.springframework.stereotype.Service

/** Everything is open, since Spring guards the functions in a subclass. */
@Service
open class BackupService(private val semaphores: SemaphoreOperations) {

    /** Waits up to 10 seconds, then throws `PermitsUnavailableException`. */
    @WithPermits("backup", waitTime = "10s")
    open fun backUp(snapshot: String): Int = snapshot.length

    /** Returns `null` if there is no permit. */
    @WithPermits("backup", onUnavailable = OnUnavailable.SKIP)
    open fun backUpIfPossible(snapshot: String): Int? = snapshot.length

    /** Holds the permit for as long as the flow is collected. */
    @WithPermits("backup")
    open fun blocks(snapshot: String): Flow<Char> = flow { snapshot.forEach { emit(it) } }

    /** A suspending function acquires in code. */
    open suspend fun replicate(snapshot: String): Long =
        semaphores.withPermits(AcquireRequest.of("backup").withWaitTime(Duration.ofSeconds(10))) { grant ->
            delay(snapshot.length.toLong())
            grant.fencingToken()
        }
}
