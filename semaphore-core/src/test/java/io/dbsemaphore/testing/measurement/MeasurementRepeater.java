package io.dbsemaphore.testing.measurement;

import io.dbsemaphore.testing.measurement.Measurement.MissedBarError;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.support.ReflectionSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Repeats a test whose measurement has missed its bar. */
final class MeasurementRepeater implements InvocationInterceptor {

    private static final Logger log = LoggerFactory.getLogger(MeasurementRepeater.class);

    private static final int MEASUREMENTS = 3;

    @Override
    public void interceptTestMethod(
            Invocation<@Nullable Void> invocation,
            ReflectiveInvocationContext<Method> test,
            ExtensionContext extensionContext)
            throws Throwable {
        measure(invocation, test);
    }

    @Override
    public void interceptTestTemplateMethod(
            Invocation<@Nullable Void> invocation,
            ReflectiveInvocationContext<Method> test,
            ExtensionContext extensionContext)
            throws Throwable {
        measure(invocation, test);
    }

    private static void measure(Invocation<@Nullable Void> invocation, ReflectiveInvocationContext<Method> test)
            throws Throwable {
        try {
            invocation.proceed();
        } catch (MissedBarError missed) {
            repeat(test, missed);
        }
    }

    private static void repeat(ReflectiveInvocationContext<Method> test, MissedBarError first) {
        MissedBarError last = first;
        for (int measurement = 2; measurement <= MEASUREMENTS; measurement++) {
            log.warn(
                    "Measurement {} of {} missed its bar: {}",
                    measurement - 1,
                    test.getExecutable(),
                    last.getMessage());
            try {
                invoke(test);
                return;
            } catch (MissedBarError missed) {
                missed.addSuppressed(last);
                last = missed;
            }
        }
        throw last;
    }

    private static void invoke(ReflectiveInvocationContext<Method> test) {
        Object unused = ReflectionSupport.invokeMethod(
                test.getExecutable(),
                test.getTarget().orElseThrow(),
                test.getArguments().toArray());
    }
}
