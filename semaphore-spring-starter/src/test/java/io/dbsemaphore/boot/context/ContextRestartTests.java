package io.dbsemaphore.boot.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.example.orders.OrdersApplication;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.boot.autoconfigure.AtHome;
import io.dbsemaphore.boot.autoconfigure.Hosts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.TestContextManager;

/** Application contexts that are paused, or stopped, and resumed. */
class ContextRestartTests {

    private static final String ONE_PERMIT = "semaphore.semaphores.orders.capacity=1";

    private ConfigurableApplicationContext host;

    @BeforeEach
    void start() {
        host = Hosts.orders(ONE_PERMIT);
    }

    @AfterEach
    void close() {
        host.close();
    }

    @Test
    void worksAfterPauseAndRestart() {
        AtHome.assertIn(host);

        host.pause();
        assertStopped();
        host.restart();

        assertAcquires(host.getBean(SemaphoreTemplate.class));
    }

    @Test
    void createsTheDeclaredSemaphoresAtARestart() {
        host.pause();
        host.getBean(JdbcTemplate.class).update("delete from semaphore");
        host.restart();

        assertAcquires(host.getBean(SemaphoreTemplate.class));
    }

    @Test
    void worksAfterStopAndStart() {
        AtHome.assertIn(host);

        for (int i = 0; i < 2; i++) {
            host.stop();
            assertStopped();
            host.start();

            assertAcquires(host.getBean(SemaphoreTemplate.class));
        }
    }

    /** Spring Framework pauses the cached context of a test class when another class has another context. */
    @Test
    void worksInCachedTestContexts() throws Exception {
        for (Class<?> testClass : new Class<?>[] {InContextA.class, InContextB.class, InContextA.class}) {
            TestContextManager spring = new TestContextManager(testClass);
            TestCase test = (TestCase) testClass.getDeclaredConstructor().newInstance();
            spring.beforeTestClass();
            spring.prepareTestInstance(test);

            assertAcquires(test.semaphores);

            spring.afterTestClass();
        }
    }

    private void assertStopped() {
        assertThatExceptionOfType(SemaphoreClosedException.class)
                .isThrownBy(() -> host.getBean(SemaphoreTemplate.class).acquire(AcquireRequest.of("orders")))
                .withMessageContaining("stopped");
    }

    private static void assertAcquires(SemaphoreTemplate semaphores) {
        boolean held = semaphores.execute(AcquireRequest.of("orders"), grant -> grant.isHeld());
        assertThat(held).as("held").isEqualTo(true);
    }

    static class TestCase {

        @Autowired
        private SemaphoreTemplate semaphores;
    }

    @SpringBootTest(
            classes = OrdersApplication.class,
            webEnvironment = SpringBootTest.WebEnvironment.NONE,
            properties = {Hosts.ORDERS_CHANGELOG, ONE_PERMIT, "spring.flyway.enabled=false"})
    static class InContextA extends TestCase {}

    @SpringBootTest(
            classes = OrdersApplication.class,
            webEnvironment = SpringBootTest.WebEnvironment.NONE,
            properties = {Hosts.ORDERS_CHANGELOG, ONE_PERMIT, "spring.flyway.enabled=false", "another.context=true"})
    static class InContextB extends TestCase {}
}
