package io.dbsemaphore.testing.measurement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.fail;

import io.dbsemaphore.testing.measurement.Measurement.MissedBarError;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.InvocationInterceptor.Invocation;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MeasurementRepeaterTests {

    private static final AtomicInteger measurements = new AtomicInteger();
    private static final AtomicInteger measurementsOfTwo = new AtomicInteger();

    private int repeated;

    @Test
    @Measured
    void theThirdMeasurementCounts() {
        int measurement = measurements.incrementAndGet();
        Measurement.check(() -> assertThat(measurement).isEqualTo(3));
    }

    @Measured
    @ParameterizedTest
    @ValueSource(ints = 2)
    void theSecondMeasurementCounts(int bar) {
        int measurement = measurementsOfTwo.incrementAndGet();
        Measurement.check(() -> assertThat(measurement).isEqualTo(bar));
    }

    @Test
    void theThirdMissedBarIsTheLast() {
        assertThatThrownBy(() -> run("missTheBar", () -> {
                    missTheBar();
                    return null;
                }))
                .isInstanceOf(MissedBarError.class)
                .hasMessage("bar 3");
        assertThat(repeated).isEqualTo(3);
    }

    @Test
    void anyOtherFailureIsTheLast() {
        assertThatThrownBy(() -> run("failForGood", () -> {
                    failForGood();
                    return null;
                }))
                .hasMessage("for good");
        assertThat(repeated).isEqualTo(1);
    }

    void missTheBar() {
        repeated++;
        Measurement.check(() -> fail("bar " + repeated));
    }

    void failForGood() {
        repeated++;
        fail("for good");
    }

    private void run(String method, Invocation<@Nullable Void> invocation) throws Throwable {
        Method executable = MeasurementRepeaterTests.class.getDeclaredMethod(method);
        new MeasurementRepeater().interceptTestMethod(invocation, new Context(this, executable), null);
    }

    private record Context(Object instance, Method executable) implements ReflectiveInvocationContext<Method> {

        @Override
        public Class<?> getTargetClass() {
            return instance.getClass();
        }

        @Override
        public Optional<Object> getTarget() {
            return Optional.of(instance);
        }

        @Override
        public Method getExecutable() {
            return executable;
        }

        @Override
        public List<Object> getArguments() {
            return List.of();
        }
    }
}
