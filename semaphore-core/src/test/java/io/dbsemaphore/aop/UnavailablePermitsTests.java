package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.annotation.OnUnavailable;
import io.dbsemaphore.annotation.WithPermits;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class UnavailablePermitsTests {

    private final GuardedContext context = GuardedContext.of(Skipping.class, FallingBack.class);
    private final Skipping skipping = context.bean(Skipping.class);
    private final FallingBack fallingBack = context.bean(FallingBack.class);

    @BeforeEach
    void takeAllPermits() {
        context.permits.capacity("backup", 0);
    }

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void skipsAVoidMethod() {
        skipping.nothing();

        assertThat(skipping.calls()).isZero();
        assertThat(context.permits.requests).hasSize(1);
    }

    @Test
    void skipsWithNull() {
        assertThat(skipping.value()).isNull();
    }

    @Test
    void skipsWithAnEmptyOptional() {
        assertThat(skipping.optional()).isEmpty();
        assertThat(skipping.optionalInt()).isEmpty();
    }

    @Test
    void skipsWithACompletedFuture() {
        assertThat(skipping.future()).isCompletedWithValue(null);
        assertThat(skipping.stage().toCompletableFuture()).isCompletedWithValue(null);
    }

    @Test
    void doesNotSkipWhatIsGranted() {
        context.permits.capacity("backup", 1);

        assertThat(skipping.optional()).contains("done");
    }

    @Test
    void doesNotSkipWhenThePermitsOfAnotherAreRefusedWithinTheMethod() {
        context.permits.capacity("backup", 1);
        PermitsUnavailableException nested = new PermitsUnavailableException(List.of());

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> skipping.fails(nested))
                .isSameAs(nested);
        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> skipping.failsBeforeItsFuture(nested))
                .isSameAs(nested);
        assertThat(context.permits.heldInTotal()).isZero();
    }

    @Test
    void fallsBackWithTheSameArguments() {
        assertThat(fallingBack.plain("a", 1)).isEqualTo("plain fallback a1");
    }

    @Test
    void fallsBackWithTheException() {
        assertThat(fallingBack.withException("a")).startsWith("exception fallback a: Semaphore 'backup'");
    }

    @Test
    void prefersTheFallbackThatTakesTheException() {
        assertThat(fallingBack.overloaded("a")).isEqualTo("with exception");
    }

    @Test
    void fallsBackWithAFuture() {
        assertThat(fallingBack.future()).isCompletedWithValue("future fallback");
    }

    @Test
    void fallsBackInTheSuperclass() {
        assertThat(fallingBack.inherited("a")).isEqualTo("inherited fallback a");
    }

    @Test
    void passesTheExceptionOfTheFallbackOnUnchanged() {
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(fallingBack::failing)
                .withMessage("no fallback either");
    }

    @Test
    void doesNotFallBackFromWhatIsGranted() {
        context.permits.capacity("backup", 1);

        assertThat(fallingBack.plain("a", 1)).isEqualTo("plain");
    }

    @Test
    void doesNotFallBackWhenThePermitsOfAnotherAreRefusedWithinTheMethod() {
        context.permits.capacity("backup", 1);
        PermitsUnavailableException nested = new PermitsUnavailableException(List.of());

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> fallingBack.nested(nested))
                .isSameAs(nested);
    }

    static class Skipping {

        private int calls;

        int calls() {
            return calls;
        }

        @WithPermits(names = "backup", onUnavailable = OnUnavailable.SKIP)
        void nothing() {
            calls++;
        }

        @WithPermits(names = "backup", onUnavailable = OnUnavailable.SKIP)
        @Nullable Integer value() {
            return 1;
        }

        @WithPermits(names = "backup", onUnavailable = OnUnavailable.SKIP)
        Optional<String> optional() {
            return Optional.of("done");
        }

        @WithPermits(names = "backup", onUnavailable = OnUnavailable.SKIP)
        OptionalInt optionalInt() {
            return OptionalInt.of(1);
        }

        @WithPermits(names = "backup", onUnavailable = OnUnavailable.SKIP)
        CompletableFuture<@Nullable String> future() {
            return CompletableFuture.completedFuture("done");
        }

        @WithPermits(names = "backup", onUnavailable = OnUnavailable.SKIP)
        CompletionStage<@Nullable String> stage() {
            return CompletableFuture.completedFuture("done");
        }

        @WithPermits(names = "backup", onUnavailable = OnUnavailable.SKIP)
        void fails(RuntimeException failure) {
            throw failure;
        }

        @WithPermits(names = "backup", onUnavailable = OnUnavailable.SKIP)
        CompletableFuture<String> failsBeforeItsFuture(RuntimeException failure) {
            throw failure;
        }
    }

    static class FallingBackBase {

        String inheritedFallback(String argument) {
            return "inherited fallback " + argument;
        }
    }

    static class FallingBack extends FallingBackBase {

        @WithPermits(names = "backup", fallbackMethod = "plainFallback")
        String plain(String text, int number) {
            return "plain";
        }

        @SuppressWarnings({"UnusedMethod", "UnusedVariable"}) // called by its name
        private String plainFallback(String text, int number) {
            return "plain fallback " + text + number;
        }

        @WithPermits(names = "backup", fallbackMethod = "exceptionFallback")
        String withException(String text) {
            return "granted";
        }

        static String exceptionFallback(String text, PermitsUnavailableException refused) {
            return "exception fallback " + text + ": " + refused.getMessage();
        }

        @WithPermits(names = "backup", fallbackMethod = "overloaded")
        String overloaded(String text) {
            return "granted";
        }

        String overloaded(String text, PermitsUnavailableException refused) {
            return "with exception";
        }

        @WithPermits(names = "backup", fallbackMethod = "futureFallback")
        CompletableFuture<String> future() {
            return new CompletableFuture<>();
        }

        CompletableFuture<String> futureFallback() {
            return CompletableFuture.completedFuture("future fallback");
        }

        @WithPermits(names = "backup", fallbackMethod = "inheritedFallback")
        String inherited(String text) {
            return "granted";
        }

        @WithPermits(names = "backup", fallbackMethod = "failingFallback")
        void failing() throws IOException {}

        void failingFallback() throws IOException {
            throw new IOException("no fallback either");
        }

        @WithPermits(names = "backup", fallbackMethod = "nestedFallback")
        void nested(RuntimeException failure) {
            throw failure;
        }

        void nestedFallback(RuntimeException failure) {}
    }
}
