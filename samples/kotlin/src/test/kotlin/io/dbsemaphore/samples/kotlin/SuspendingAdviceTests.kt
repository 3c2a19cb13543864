package io.dbsemaphore.samples.kotlin

import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import org.aopalliance.intercept.MethodInterceptor
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.springframework.aop.framework.ProxyFactory

/** Why suspending functions are refused: with any advice of Spring, a cancelled call ends before the function does. */
class SuspendingAdviceTests {

    @Test
    fun aCancelledCallEndsBeforeTheFunction() = runBlocking<Unit> {
        val work = ProxyFactory(Work()).apply {
            isProxyTargetClass = true
            addAdvice(MethodInterceptor { it.proceed() })
        }.proxy as Work
        val started = CompletableDeferred<Unit>()
        val mayEnd = CompletableDeferred<Unit>()
        val ended = CompletableDeferred<Unit>()
        val call = launch(Dispatchers.Default) { work.run(started, mayEnd, ended) }
        started.await()

        withTimeout(30.seconds) { call.cancelAndJoin() }

        assertThat(ended.isCompleted).isFalse()
        mayEnd.complete(Unit)
        withTimeout(30.seconds) { ended.await() }
    }

    open class Work {

        open suspend fun run(
            started: CompletableDeferred<Unit>,
            mayEnd: CompletableDeferred<Unit>,
            ended: CompletableDeferred<Unit>,
        ) {
            try {
                started.complete(Unit)
                awaitCancellation()
            } finally {
                withContext(NonCancellable) { mayEnd.await() }
                ended.complete(Unit)
            }
        }
    }
}
