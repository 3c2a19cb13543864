package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.annotation.WithPermits;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanCreationException;

/** An annotation of a type is refused where it cannot work for one of the methods. */
class TypeLevelRefusalTests {

    @Test
    void refusesAFinalMethod() {
        assertRefused(WithFinalMethod.class, "WithFinalMethod.run()", "it is final");
    }

    @Test
    void refusesAnInheritedFinalMethod() {
        assertRefused(WithInheritedFinalMethod.class, "WithInheritedFinalMethod.run()", "it is final");
    }

    @Test
    void refusesAMethodThatEndsLater() {
        assertRefused(WithFuture.class, "WithFuture.run()", "returns java.util.concurrent.Future");
    }

    @Test
    void refusesEveryWrongMethodNotOnlyTheFirst() {
        assertRefused(SecondIsWrong.class, "SecondIsWrong.second()", "ttl = \"0s\"");
    }

    private static void assertRefused(Class<?> bean, String... words) {
        assertThatExceptionOfType(BeanCreationException.class)
                .isThrownBy(() -> GuardedContext.of(bean).close())
                .havingCause()
                .isInstanceOf(IllegalStateException.class)
                .satisfies(cause -> assertThat(cause.getMessage()).contains(words));
    }

    @WithPermits("a")
    static class WithFinalMethod {

        final void run() {}
    }

    static class BaseWithFinalMethod {

        public final void run() {}
    }

    @WithPermits("a")
    static class WithInheritedFinalMethod extends BaseWithFinalMethod {}

    @WithPermits("a")
    static class WithFuture {

        Future<String> run() {
            return new FutureTask<>(() -> "");
        }
    }

    static class SecondIsWrong {

        @WithPermits("a")
        void first() {}

        @WithPermits(names = "a", ttl = "0s")
        void second() {}
    }
}
