package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.StackRecorder;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

/**
 * How many frames of the library are between a lone caller and the first statement of its transaction. Statements that
 * prepare a session or give it back do not count: a session that is wanted again and again is kept prepared.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PathLengthIntegrationTests {

    private static final int MAX_ACQUIRE = 12;
    private static final int MAX_RELEASE = 13;
    private static final int MAX_RENEWAL = 9;

    private static Schema schema;
    private static HikariDataSource pool;
    private static StackRecorder recorder;
    private static SemaphoreEngine engine;
    private static SemaphoreTemplate semaphores;

    @BeforeAll
    static void start() {
        schema = TestDatabase.create().migrate();
        pool = schema.newPool(4);
        recorder = new StackRecorder(pool);
        engine = new SemaphoreEngine(recorder, TestSettings.defaults());
        semaphores = new SemaphoreTemplate(engine.permitManager());
        engine.admin().create("path", 10);
        for (int i = 0;
                i < 5;
                i++) { // what is made on first use is there, and the session is kept between transactions
            PermitGrant grant = semaphores.acquire(AcquireRequest.of("path"));
            grant.renew(Duration.ofMinutes(1));
            grant.release();
        }
    }

    @AfterAll
    static void stop() {
        engine.close();
        pool.close();
        schema.close();
    }

    @BeforeEach
    void clear() {
        recorder.clear();
    }

    @Test
    void acquireByAnnotation() {
        ProxyFactory proxy = new ProxyFactory(new Guarded());
        proxy.setProxyTargetClass(true);
        proxy.addAdvisor(new WithPermitsAdvisor(() -> semaphores, new DefaultListableBeanFactory()));

        ((Guarded) proxy.getProxy()).work();

        assertPath("acquire", MAX_ACQUIRE);
    }

    @Test
    void release() {
        PermitGrant grant = semaphores.acquire(AcquireRequest.of("path"));
        recorder.clear();

        grant.release();

        assertPath("release", MAX_RELEASE);
    }

    @Test
    void renewalByHandleIsTwoStatements() {
        PermitGrant grant = semaphores.acquire(AcquireRequest.of("path"));
        recorder.clear();

        grant.renew(Duration.ofMinutes(2));

        assertPath("renewal", MAX_RENEWAL);
        boolean together = Set.of(DatabaseKind.MYSQL, DatabaseKind.POSTGRESQL).contains(TestDatabase.kind())
                && TestSettings.pipelining();
        assertThat(ofTransaction())
                .as("two statements, in one round trip where the driver pipelines, and the commit")
                .hasSize(together ? 2 : 3);
        grant.release();
    }

    private static List<List<StackTraceElement>> ofTransaction() {
        return recorder.stacks().stream()
                .filter(stack -> stack.stream()
                        .noneMatch(frame -> frame.getClassName().equals("io.dbsemaphore.jdbc.Sessions$SessionPool")
                                || frame.getMethodName().equals("flushBeforeAnother"))) // limits, on PostgreSQL
                .toList();
    }

    private static void assertPath(String what, int max) {
        List<StackTraceElement> frames = ofTransaction().get(0);
        assertThat(frames)
                .as("the frames of %s up to its first statement", what)
                .hasSizeLessThanOrEqualTo(max);
    }

    static class Guarded {

        @WithPermits(names = "path", keepAlive = false)
        void work() {}
    }
}
