package io.dbsemaphore.boot.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.Permits;
import io.dbsemaphore.annotation.WithPermits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.aspectj.lang.JoinPoint;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;

/** Aspects of the application that come after the guard, whose work runs on another thread than the call. */
class HostAspectTests {

    private static final Duration SOON = Duration.ofSeconds(20);

    private final ApplicationContextRunner host = new ApplicationContextRunner()
            .withUserConfiguration(ChildContextTests.Semaphores.class)
            .withBean(Work.class)
            .withBean(Counting.class)
            .withPropertyValues("semaphore.semaphores.orders.capacity=1");

    @Test
    void areAppliedToReactiveMethods() {
        host.run(context -> {
            assertThat(context.getBean(Work.class).mono("a").block(SOON)).isEqualTo("a held");
            assertThat(context.getBean(Counting.class).calls).containsExactlyInAnyOrder("before mono", "around a");
        });
    }

    @Test
    void areAppliedToMethodsThatReturnAFutureAndWait() {
        host.run(context -> {
            assertThat(context.getBean(Work.class).future("b").get(SOON.toSeconds(), TimeUnit.SECONDS))
                    .isEqualTo("b held");
            assertThat(context.getBean(Counting.class).calls).containsExactlyInAnyOrder("before future", "around b");
        });
    }

    static class Work {

        @WithPermits("orders")
        Mono<String> mono(String argument) {
            Permits.assertHeld("orders");
            return Mono.just(argument + " held");
        }

        @WithPermits(names = "orders", waitTime = "10s")
        CompletableFuture<String> future(String argument) {
            Permits.assertHeld("orders");
            return CompletableFuture.completedFuture(argument + " held");
        }
    }

    @Aspect
    static class Counting {

        private final List<String> calls = new ArrayList<>();

        @Before("execution(* io.dbsemaphore.boot.context.HostAspectTests.Work.*(..))")
        void log(JoinPoint call) {
            calls.add("before " + call.getSignature().getName());
        }

        @Around("execution(* io.dbsemaphore.boot.context.HostAspectTests.Work.*(..)) && args(argument)")
        Object log(ProceedingJoinPoint call, String argument) throws Throwable {
            calls.add("around " + argument);
            return call.proceed();
        }
    }
}
