package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.annotation.OnUnavailable;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.aop.elsewhere.PackagePrivateMethod;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import org.springframework.beans.factory.BeanCreationException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.ParallelFlux;

/** A method that cannot be guarded as its annotation says fails the start, in words that name it. */
class UnguardableMethodTests {

    @ParameterizedTest(name = "{0}")
    @MethodSource("refused")
    void refusesToStart(Class<?> bean, String method, List<String> words) {
        assertThatExceptionOfType(BeanCreationException.class)
                .isThrownBy(() -> GuardedContext.of(bean).close())
                .havingCause()
                .isInstanceOf(IllegalStateException.class)
                .withMessageContaining("@WithPermits on ")
                .withMessageContaining(bean.getName() + "." + method)
                .satisfies(cause -> assertThat(cause.getMessage()).contains(words));
    }

    static Stream<Arguments> refused() {
        return Stream.of(
                Arguments.of(
                        SkipOfPrimitive.class,
                        "run()",
                        List.of("onUnavailable = SKIP", "not supported for the return type int")),
                Arguments.of(
                        SkipOfNonNull.class,
                        "run()",
                        List.of("onUnavailable = SKIP", "a return type that is not nullable", "Return String?")),
                Arguments.of(
                        SkipWithFallback.class,
                        "run()",
                        List.of("fallbackMethod = \"other\"", "contradicts onUnavailable = SKIP")),
                Arguments.of(
                        MissingFallback.class,
                        "run(String)",
                        List.of(
                                "fallbackMethod = \"other\"",
                                "is no other method of the class",
                                "[class java.lang.String]")),
                Arguments.of(
                        FallbackToItself.class,
                        "run()",
                        List.of("fallbackMethod = \"run\"", "is no other method of the class")),
                Arguments.of(
                        FallbackWithOtherParameters.class,
                        "run(String)",
                        List.of("fallbackMethod = \"other\"", "has other parameters")),
                Arguments.of(
                        FallbackWithOtherException.class,
                        "run()",
                        List.of("fallbackMethod = \"other\"", "has other parameters")),
                Arguments.of(
                        FallbackWithOtherReturnType.class,
                        "run()",
                        List.of(
                                "fallbackMethod = \"other\"",
                                "returns java.lang.Integer, which is not assignable to java.lang.String")),
                Arguments.of(FinalMethod.class, "run()", List.of("it is final")),
                Arguments.of(PrivateMethod.class, "run()", List.of("it is private")),
                Arguments.of(StaticMethod.class, "run()", List.of("it is static")),
                Arguments.of(PrivateMethodOfInterface.class, "run()", List.of("it is private")),
                Arguments.of(StaticMethodOfSuperinterface.class, "run()", List.of("it is static")),
                Arguments.of(
                        PackagePrivateMethodOfAnotherPackage.class,
                        "run()",
                        List.of("it is package-private in another package")),
                Arguments.of(ObjectMethod.class, "toString()", List.of("it is a method of java.lang.Object")),
                Arguments.of(InitMethod.class, "run()", List.of("it has @PostConstruct", "without permits")),
                Arguments.of(DestroyMethod.class, "run()", List.of("it has @PreDestroy", "without permits")),
                Arguments.of(InitMethodOfInterface.class, "run()", List.of("it has @PostConstruct")),
                Arguments.of(
                        PlainFuture.class,
                        "run()",
                        List.of("returns java.util.concurrent.Future", "CompletableFuture", "Mono")),
                Arguments.of(OwnFuture.class, "run()", List.of("UnguardableMethodTests$OwnFuture$Promise")),
                Arguments.of(LazyCallable.class, "run()", List.of("returns java.util.concurrent.Callable")),
                Arguments.of(LazyStream.class, "run()", List.of("returns java.util.stream.Stream")),
                Arguments.of(LazyIntStream.class, "run()", List.of("returns java.util.stream.IntStream")),
                Arguments.of(SubtypeOfPublisher.class, "run()", List.of("returns reactor.core.publisher.ParallelFlux")),
                Arguments.of(
                        FuturesInAList.class,
                        "run()",
                        List.of("the work of java.util.concurrent.CompletableFuture within it")),
                Arguments.of(
                        FuturesInAnArray.class,
                        "run()",
                        List.of("the work of java.util.concurrent.CompletableFuture within it")),
                Arguments.of(
                        PublisherInAnOptional.class,
                        "run()",
                        List.of("the work of org.reactivestreams.Publisher within it")),
                Arguments.of(StreamInAFuture.class, "run()", List.of("the work of java.util.stream.Stream within it")));
    }

    static class SkipOfPrimitive {

        @WithPermits(names = "a", onUnavailable = OnUnavailable.SKIP)
        int run() {
            return 1;
        }
    }

    @NullMarked
    static class SkipOfNonNull {

        @WithPermits(names = "a", onUnavailable = OnUnavailable.SKIP)
        String run() {
            return "done";
        }
    }

    static class SkipWithFallback {

        @WithPermits(names = "a", onUnavailable = OnUnavailable.SKIP, fallbackMethod = "other")
        void run() {}

        void other() {}
    }

    static class MissingFallback {

        @WithPermits(names = "a", fallbackMethod = "other")
        void run(String id) {}
    }

    static class FallbackToItself {

        @WithPermits(names = "a", fallbackMethod = "run")
        void run() {}
    }

    static class FallbackWithOtherParameters {

        @WithPermits(names = "a", fallbackMethod = "other")
        void run(String id) {}

        void other(int id) {}
    }

    static class FallbackWithOtherException {

        @WithPermits(names = "a", fallbackMethod = "other")
        void run() {}

        void other(IllegalStateException refused) {}
    }

    static class FallbackWithOtherReturnType {

        @WithPermits(names = "a", fallbackMethod = "other")
        String run() {
            return "";
        }

        Integer other() {
            return 1;
        }
    }

    static class FinalMethod {

        @WithPermits("a")
        public final void run() {}
    }

    static class PrivateMethod {

        @SuppressWarnings("UnusedMethod") // there to be refused
        @WithPermits("a")
        private void run() {}
    }

    static class StaticMethod {

        @WithPermits("a")
        public static void run() {}
    }

    static class InitMethod {

        @PostConstruct
        @WithPermits("a")
        void run() {}
    }

    static class DestroyMethod {

        @PreDestroy
        @WithPermits("a")
        void run() {}
    }

    interface WithGuardedMethod {

        @WithPermits("a")
        void run();
    }

    static class InitMethodOfInterface implements WithGuardedMethod {

        @PostConstruct
        @Override
        public void run() {}
    }

    static class ObjectMethod {

        @WithPermits("a")
        @Override
        public String toString() {
            return "a";
        }
    }

    static class PlainFuture {

        @WithPermits("a")
        Future<String> run() {
            return new CompletableFuture<>();
        }
    }

    static class OwnFuture {

        @WithPermits("a")
        Promise run() {
            return new Promise();
        }

        static class Promise extends CompletableFuture<String> {}
    }

    static class LazyCallable {

        @WithPermits("a")
        Callable<String> run() {
            return () -> "";
        }
    }

    static class LazyStream {

        @WithPermits("a")
        Stream<String> run() {
            return Stream.of();
        }
    }

    static class LazyIntStream {

        @WithPermits("a")
        IntStream run() {
            return IntStream.of();
        }
    }

    static class SubtypeOfPublisher {

        @WithPermits("a")
        ParallelFlux<String> run() {
            return Flux.<String>empty().parallel();
        }
    }

    static class FuturesInAList {

        @WithPermits("a")
        List<CompletableFuture<String>> run() {
            return List.of();
        }
    }

    static class FuturesInAnArray {

        @WithPermits("a")
        CompletableFuture<?>[] run() {
            return new CompletableFuture<?>[0];
        }
    }

    static class PublisherInAnOptional {

        @WithPermits("a")
        Optional<? extends Map<String, Publisher<String>>> run() {
            return Optional.empty();
        }
    }

    static class StreamInAFuture {

        @WithPermits("a")
        CompletableFuture<Stream<String>> run() {
            return new CompletableFuture<>();
        }
    }

    interface WithPrivateMethod {

        @WithPermits("a")
        private void run() {}
    }

    static class PrivateMethodOfInterface implements WithPrivateMethod {}

    interface WithStaticMethod {

        @WithPermits("a")
        static void run() {}
    }

    interface BelowStaticMethod extends WithStaticMethod {}

    static class StaticMethodOfSuperinterface implements BelowStaticMethod {}

    static class PackagePrivateMethodOfAnotherPackage extends PackagePrivateMethod {}
}
