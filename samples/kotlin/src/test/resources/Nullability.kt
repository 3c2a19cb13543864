import io.dbsemaphore.AcquireRequest
import io.dbsemaphore.PermitGrant
import io.dbsemaphore.admin.SemaphoreAdmin
import io.dbsemaphore.SemaphoreTemplate
import java.time.Duration
import java.time.Instant
import kotlin.jvm.optionals.getOrNull

class Nullability(private val semaphores: SemaphoreTemplate, private val admin: SemaphoreAdmin) {

    private val request: AcquireRequest = AcquireRequest.of("backup").withTtl(Duration.ofMinutes(1)).withOwner("nightly")

    fun arguments(name: String?, ttl: Duration?, grant: PermitGrant?) {
        AcquireRequest.of(null) // error: Null cannot be a value of a non-null type 'String'.
        AcquireRequest.of(name) // error: Argument type mismatch: actual type is 'String?', but 'String' was expected.
        request.withTtl(ttl) // error: Argument type mismatch: actual type is 'Duration?', but 'Duration' was expected.
        request.withOwner(null) // error: Null cannot be a value of a non-null type 'String'.
        semaphores.acquire(null) // error: Null cannot be a value of a non-null type 'AcquireRequest'.
        semaphores.release(name) // error: Argument type mismatch: actual type is 'String?', but 'String' was expected.
        semaphores.requireHeld(grant) // error: Argument type mismatch: actual type is 'PermitGrant?', but 'PermitGrant' was expected.
        admin.find(null) // error: Null cannot be a value of a non-null type 'String'.
    }

    fun results(): Any? {
        val grant: PermitGrant = semaphores.acquire(request)
        val id: String = grant.externalId()
        val acquiredAt: Instant = grant.acquiredAt()
        val expiresAt: Instant? = grant.expiresAt().getOrNull()
        val never: Instant = grant.expiresAt().getOrNull() // error: Initializer type mismatch: expected 'Instant', actual 'Instant?'.
        val permits: Map<String, Int> = grant.permits()
        val token: Long = grant.fencingToken("backup")
        val found: PermitGrant? = semaphores.find(id).getOrNull()
        found.release() // error: Only safe (?.) or non-null asserted (!!.) calls are allowed on a nullable receiver of type 'PermitGrant?'.
        return listOf(acquiredAt, expiresAt, never, permits, token, found)
    }

    fun callbacks(): Any? {
        val length: Int = semaphores.execute<Int, RuntimeException>(request) { it.externalId().length }
        val text: String = semaphores.execute<String, RuntimeException>(request) { "done" }
        val optional: String? = semaphores.execute<String?, RuntimeException>(request) { null }
        val lost: String = semaphores.execute<String?, RuntimeException>(request) { null } // error: Initializer type mismatch: expected 'String', actual 'String?'.
        semaphores.execute<String, RuntimeException>(request) { null } // error: Null cannot be a value of a non-null type 'String'.
        semaphores.executeWithoutResult<RuntimeException>(request) { it.fencingToken() }
        return listOf(length, text, optional, lost)
    }
}
