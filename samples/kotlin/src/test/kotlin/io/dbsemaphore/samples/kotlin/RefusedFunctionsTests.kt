package io.dbsemaphore.samples.kotlin

import io.dbsemaphore.SemaphoreOperations
import io.dbsemaphore.annotation.OnUnavailable
import io.dbsemaphore.annotation.WithPermits
import io.dbsemaphore.aop.WithPermitsAdvisor
import java.util.function.Supplier
import kotlin.reflect.KClass
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Job
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.emptyFlow
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource
import org.junit.jupiter.params.provider.ValueSource
import org.springframework.aop.config.AopConfigUtils
import org.springframework.beans.factory.BeanCreationException
import org.springframework.beans.factory.config.BeanDefinition
import org.springframework.beans.factory.config.BeanDefinitionCustomizer
import org.springframework.context.annotation.AnnotationConfigApplicationContext
import org.springframework.transaction.annotation.Transactional

/** What cannot be guarded keeps the application from starting. */
class RefusedFunctionsTests {

    @ParameterizedTest
    @MethodSource("suspending")
    fun suspendingFunction(type: KClass<*>) {
        assertThatThrownBy { start(type, classProxies = true) }
            .isInstanceOf(BeanCreationException::class.java)
            .hasStackTraceContaining("run(")
            .hasStackTraceContaining("it is a suspending function, which returns when it is suspended for the first time")
            .hasStackTraceContaining("acquireAsync")
    }

    @Test
    fun suspendingFunctionBehindAnInterfaceProxy() {
        assertThatThrownBy { start(SuspendingImplementation::class, classProxies = false) }
            .hasStackTraceContaining("it is a suspending function")
    }

    @ParameterizedTest
    @MethodSource("late")
    fun resultWhoseWorkEndsLater(type: KClass<*>) {
        assertThatThrownBy { start(type, classProxies = true) }.hasStackTraceContaining("ends later than the method: its permits would be released while it is still running")
    }

    @ParameterizedTest
    @ValueSource(classes = [FinalFunction::class, FinalSuspending::class, FinalClass::class])
    fun functionThatIsNotOpen(type: Class<*>) {
        assertThatThrownBy { start(type.kotlin, classProxies = true) }
            .hasStackTraceContaining("it is final, so no proxy can guard it")
            .hasStackTraceContaining("in Kotlin: open")
    }

    @Test
    fun classThatIsNotOpen() {
        assertThatThrownBy { start(FinalImplementation::class, classProxies = true) }.hasStackTraceContaining("final class")
    }

    @Test
    fun skippedFunctionThatReturnsNoNull() {
        assertThatThrownBy { start(NeverNull::class, classProxies = true) }
            .hasStackTraceContaining("onUnavailable = SKIP is not supported for a return type that is not nullable")
    }

    @Test
    fun skippedFunctionThatMayReturnNull() {
        start(MayBeNull::class, classProxies = true)
    }

    private fun start(type: KClass<*>, classProxies: Boolean) {
        AnnotationConfigApplicationContext().use { context ->
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(context)
            if (classProxies) {
                AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(context)
            }
            context.registerBean(WithPermitsAdvisor::class.java, Supplier { WithPermitsAdvisor({ unused() }, context) },
                BeanDefinitionCustomizer { it.role = BeanDefinition.ROLE_INFRASTRUCTURE })
            context.register(type.java)
            context.refresh()
        }
    }

    private fun unused(): SemaphoreOperations = throw AssertionError("Nothing is acquired at start")

    open class SuspendingClass {
        @WithPermits("backup")
        open suspend fun run() = delay(1)
    }

    open class SuspendingInTransaction {
        @WithPermits("backup")
        @Transactional
        open suspend fun run(): String = "done".also { delay(1) }
    }

    open class SuspendingWithDefault {
        @WithPermits("backup")
        open suspend fun run(name: String = "backup"): String? = name.also { delay(1) }
    }

    open class FinalSuspending {
        @WithPermits("backup")
        suspend fun run() = delay(1)
    }

    @WithPermits("backup")
    open class SuspendingByType {
        open suspend fun run() = delay(1)
    }

    open class SuspendingFlow {
        @WithPermits("backup")
        open suspend fun run(): Flow<String> = emptyFlow<String>().also { delay(1) }
    }

    interface Suspending {
        @WithPermits("backup")
        suspend fun run(name: String)
    }

    open class SuspendingImplementation : Suspending {
        override suspend fun run(name: String) = delay(1)
    }

    interface Task<T> {
        @WithPermits("backup")
        suspend fun run(task: T): T
    }

    open class SuspendingOverride : Task<String> {
        override suspend fun run(task: String): String = task.also { delay(1) }
    }

    interface WithBody {
        @WithPermits("backup")
        suspend fun run() = delay(1)
    }

    open class InheritedBody : WithBody

    open class StartsJob {
        @WithPermits("backup")
        open fun run(): Job = Job()
    }

    open class ReturnsSequence {
        @WithPermits("backup")
        open fun run(): Sequence<String> = sequenceOf()
    }

    open class ReturnsState {
        @WithPermits("backup")
        open fun run(): StateFlow<String> = MutableStateFlow("")
    }

    open class ReturnsOptionalJob {
        @WithPermits("backup")
        open fun run(): List<CompletableDeferred<String>> = listOf()
    }

    open class FinalFunction {
        @WithPermits("backup")
        fun run() = 1
    }

    class FinalClass {
        @WithPermits("backup")
        fun run() = 1
    }

    class FinalImplementation : Ordinary {
        override fun run() = 1
    }

    interface Ordinary {
        @WithPermits("backup")
        fun run(): Int
    }

    open class NeverNull {
        @WithPermits("backup", onUnavailable = OnUnavailable.SKIP)
        open fun run(): String = "done"
    }

    open class MayBeNull {
        @WithPermits("backup", onUnavailable = OnUnavailable.SKIP)
        open fun run(): String? = "done"

        @WithPermits("backup", onUnavailable = OnUnavailable.SKIP)
        open fun runWithoutResult() {
        }

        @WithPermits("backup", onUnavailable = OnUnavailable.SKIP)
        open fun runLater(): Flow<String> = emptyFlow()
    }

    companion object {

        @JvmStatic
        fun suspending() = listOf(
            SuspendingClass::class,
            SuspendingInTransaction::class,
            SuspendingWithDefault::class,
            SuspendingByType::class,
            SuspendingFlow::class,
            SuspendingImplementation::class,
            SuspendingOverride::class,
            InheritedBody::class,
        )

        @JvmStatic
        fun late() = listOf(StartsJob::class, ReturnsSequence::class, ReturnsState::class, ReturnsOptionalJob::class)
    }
}
