package io.dbsemaphore.samples.kotlin

import io.dbsemaphore.AcquireRequest
import io.dbsemaphore.Permits
import io.dbsemaphore.PermitsUnavailableException
import io.dbsemaphore.admin.SemaphoreAdmin
import io.dbsemaphore.SemaphoreTemplate
import io.dbsemaphore.annotation.WithPermits
import java.time.Duration
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatExceptionOfType
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.boot.test.context.SpringBootTest
import org.springframework.context.annotation.Import
import org.springframework.transaction.annotation.Transactional
import org.springframework.transaction.support.TransactionSynchronization
import org.springframework.transaction.support.TransactionSynchronizationManager

/** Functions with the annotation, called through their proxies. */
@SpringBootTest
@Import(GuardedFunctionsIntegrationTests.Functions::class, GuardedFunctionsIntegrationTests.NightlyTask::class)
class GuardedFunctionsIntegrationTests {

    @Autowired
    lateinit var backups: BackupService

    @Autowired
    lateinit var functions: Functions

    @Autowired
    lateinit var task: Task

    @Autowired
    lateinit var semaphores: SemaphoreTemplate

    @Autowired
    lateinit var admin: SemaphoreAdmin

    @AfterEach
    fun nothingIsHeld() {
        await().atMost(Duration.ofSeconds(30)).until { held() == 0L }
    }

    @Test
    fun acquiresAndReleases() {
        assertThat(backups.backUp("monday")).isEqualTo(6)
        assertThat(held()).isZero()
    }

    @Test
    fun returnsNullWhereItIsSkipped() {
        semaphores.acquire(AcquireRequest.of("backup")).use {
            assertThat(backups.backUpIfPossible("monday")).isNull()
        }
        assertThat(backups.backUpIfPossible("monday")).isEqualTo(6)
    }

    @Test
    fun isGuardedWhenItsArgumentsAreDefaults() {
        assertThat(functions.heldWithDefaults()).isEqualTo("latest: 1")
        assertThat(functions.heldWithDefaults(times = 3)).isEqualTo("latest: 3")
    }

    @Test
    fun isGuardedByTheAnnotationOfAnInterface() {
        assertThat(task.run()).isEqualTo("task: true")
        assertThat(task.withBody()).isTrue()
    }

    @Test
    fun namesParametersWithoutACompilerOption() {
        assertThat(functions.heldByTenant("42")).containsOnlyKeys("tenant:42")
    }

    @Test
    fun holdsThePermitUntilTheTransactionHasEnded() {
        assertThat(functions.heldAtEndOfTransaction()).hasSize(0)
        assertThat(functions.heldAfterCommit).containsExactly(true)
    }

    @Test
    fun holdsThePermitWhileAFlowIsCollected() = runBlocking<Unit> {
        val flow = functions.blocks()
        assertThat(held()).isZero()

        assertThat(flow.toList()).containsExactly(1L, 1L)
        await().atMost(Duration.ofSeconds(30)).until { held() == 0L }
        assertThat(flow.toList()).containsExactly(1L, 1L)
    }

    @Test
    fun releasesThePermitOfAFlowThatIsCollectedInPart() = runBlocking<Unit> {
        assertThat(functions.blocks().first()).isEqualTo(1L)
    }

    @Test
    fun doesNotWaitForAFlowWhoseCollectorIsCancelled() = runBlocking<Unit> {
        assertThat(functions.slowlyEnding().first()).isEqualTo("block")
        await().atMost(Duration.ofSeconds(30)).until { held() == 0L }

        assertThat(functions.flowMayEnd.complete("done")).isTrue()
    }

    @Test
    fun refusesToCollectAFlowWithoutAPermit() {
        semaphores.acquire(AcquireRequest.of("backup")).use {
            assertThatExceptionOfType(PermitsUnavailableException::class.java)
                .isThrownBy { runBlocking { backups.blocks("monday").toList() } }
        }
    }

    @Test
    fun holdsThePermitUntilADeferredIsCompleted() = runBlocking<Unit> {
        val result = functions.deferred()
        await().atMost(Duration.ofSeconds(30)).until { held() == 1L }

        functions.deferred.complete("done")

        assertThat(result.await()).isEqualTo("done")
    }

    @Test
    fun acquiresInASuspendingFunction() = runBlocking<Unit> {
        assertThat(backups.replicate("monday")).isPositive()
        assertThat(held()).isZero()
    }

    private fun held() = admin.find("backup").orElseThrow().held()

    interface Task {

        @WithPermits("backup")
        fun run(name: String = "task"): String

        @WithPermits("backup")
        fun withBody(): Boolean = Permits.current().isHeld
    }

    open class NightlyTask : Task {

        override fun run(name: String) = "$name: ${Permits.current().isHeld}"
    }

    open class Functions(private val admin: SemaphoreAdmin) {

        open val deferred = CompletableDeferred<String>()

        @WithPermits("backup")
        open fun heldWithDefaults(snapshot: String = "latest", times: Int = 1): String =
            "$snapshot: ${times * admin.find("backup").orElseThrow().held()}"

        @WithPermits("tenant:#{#tenant}")
        open fun heldByTenant(tenant: String): Map<String, Int> = Permits.current().permits()

        open val heldAfterCommit = mutableListOf<Boolean>()

        @WithPermits("backup")
        @Transactional
        open fun heldAtEndOfTransaction(): List<Boolean> {
            TransactionSynchronizationManager.registerSynchronization(object : TransactionSynchronization {
                override fun afterCommit() {
                    heldAfterCommit += Permits.current().isHeld
                }
            })
            return heldAfterCommit.toList()
        }

        @WithPermits("backup")
        open fun blocks(): Flow<Long> = flow {
            emit(admin.find("backup").orElseThrow().held())
            emit(admin.find("backup").orElseThrow().held())
        }

        open val flowMayEnd = CompletableDeferred<String>()

        @WithPermits("backup")
        open fun slowlyEnding(): Flow<String> = flow {
            try {
                emit("block")
                awaitCancellation()
            } finally {
                withContext(NonCancellable) { flowMayEnd.await() }
            }
        }

        @WithPermits("backup")
        open fun deferred(): Deferred<String> = deferred
    }
}
