package io.dbsemaphore.samples.kotlin

import io.dbsemaphore.AcquireRequest
import io.dbsemaphore.PermitsUnavailableException
import io.dbsemaphore.admin.SemaphoreAdmin
import io.dbsemaphore.SemaphoreTemplate
import java.time.Duration
import java.util.concurrent.CountDownLatch
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatExceptionOfType
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.boot.test.context.SpringBootTest

/** Acquires of suspending functions. */
@SpringBootTest
class SuspendingPermitsIntegrationTests {

    private val request = AcquireRequest.of("backup").withWaitTime(Duration.ofSeconds(30))

    @Autowired
    lateinit var semaphores: SemaphoreTemplate

    @Autowired
    lateinit var admin: SemaphoreAdmin

    @Test
    fun holdsThePermitWhileTheWorkIsSuspended() = runBlocking<Unit> {
        val result = semaphores.withPermits(request) {
            withContext(Dispatchers.Default) { held() }
        }

        assertThat(result).isEqualTo(1)
        assertThat(held()).isZero()
    }

    @Test
    fun releasesAfterAFailure() {
        assertThatExceptionOfType(IllegalStateException::class.java)
            .isThrownBy { runBlocking { semaphores.withPermits(request) { error("failed") } } }
            .withMessage("failed")
        assertThat(held()).isZero()
    }

    @Test
    fun failsWithoutAPermit() {
        semaphores.acquire(request).use {
            assertThatExceptionOfType(PermitsUnavailableException::class.java).isThrownBy {
                runBlocking { semaphores.withPermits(AcquireRequest.of("backup")) { } }
            }
        }
    }

    @Test
    fun releasesCancelledWorkWhenItHasCleanedUp() = runBlocking<Unit> {
        val started = CompletableDeferred<Unit>()
        var heldAtTheEnd = 0L
        val job = launch {
            semaphores.withPermits(request) {
                try {
                    started.complete(Unit)
                    awaitCancellation()
                } finally {
                    withContext(NonCancellable + Dispatchers.IO) { heldAtTheEnd = held() }
                }
            }
        }
        started.await()

        job.cancelAndJoin()

        assertThat(heldAtTheEnd).isEqualTo(1)
        assertThat(held()).isZero()
    }

    @Test
    fun leavesTheQueueWhenItIsCancelled() = runBlocking<Unit> {
        semaphores.acquire(request).use {
            val waiting = launch(Dispatchers.Default) { semaphores.withPermits(request) { } }
            await().atMost(Duration.ofSeconds(30)).until { admin.waiting("backup").isNotEmpty() }

            waiting.cancelAndJoin()
        }
        assertThat(semaphores.tryAcquire(AcquireRequest.of("backup"))).hasValueSatisfying { it.release() }
    }

    /** Its grant has arrived, and it is cancelled before its thread has time for it. */
    @Test
    fun releasesAGrantThatItsCancelledCallerHasMissed() = runBlocking<Unit> {
        val thread = ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, LinkedBlockingQueue())
        val free = CountDownLatch(1)
        val grant = semaphores.acquire(request)
        val job = launch(thread.asCoroutineDispatcher()) { semaphores.withPermits(request) { } }
        await().atMost(Duration.ofSeconds(30)).until { admin.waiting("backup").isNotEmpty() }
        thread.execute { free.await() }
        await().atMost(Duration.ofSeconds(30)).until { thread.queue.isEmpty() }
        grant.release()
        await().atMost(Duration.ofSeconds(30)).until { thread.queue.isNotEmpty() }

        job.cancel()
        free.countDown()

        job.join()
        assertThat(held()).isZero()
        thread.shutdown()
    }

    private fun held() = admin.find("backup").orElseThrow().held()
}
