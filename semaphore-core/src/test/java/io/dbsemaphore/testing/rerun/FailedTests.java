package io.dbsemaphore.testing.rerun;

import io.dbsemaphore.testing.measurement.Measurement;
import java.io.IOException;
import java.lang.reflect.AnnotatedElement;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * What happens to tests that Surefire and Failsafe run a second time in this JVM because they have failed, after all other tests of the
 * JVM ({@code rerunFailingTestsCount}). A test that passes then is reported as a flake.
 *
 * <ul>
 *   <li>A failed assertion of a {@link Promise} is final: that test is left out.
 *   <li>The others run alone: not before the tests of all other JVMs of this build have ended, which are the reason that most of them
 *       were late. Each JVM shares the lock of a file while it runs tests for the first time, and locks it exclusively afterwards.
 * </ul>
 *
 * <p>The JUnit Platform finds this class by {@code META-INF/services}, and makes an object of it for each of its two roles.
 */
public final class FailedTests implements TestExecutionListener, PostDiscoveryFilter {

    /** Where the lock is; without this property, tests run again without waiting for others. */
    private static final String LOCK = "tests.lock";

    /** The other JVMs of the longest step of the build are not awaited for longer. */
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(10);

    private static final Duration POLL = Duration.ofMillis(200);

    /** The type of the segment in the id of a class. */
    private static final String TYPE_OF_CLASS = "class";

    /** The ids of the tests that have failed for good, and of the methods that they are invocations of. */
    private static final Set<String> FINAL = ConcurrentHashMap.newKeySet();

    /** The ids of all tests and classes that have ended in this JVM. */
    private static final Set<String> ENDED = ConcurrentHashMap.newKeySet();

    private static @Nullable FileLock lock;

    private final @Nullable String lockFile;

    /** For the JUnit Platform. */
    public FailedTests() {
        this(System.getProperty(LOCK));
    }

    FailedTests(@Nullable String lockFile) {
        this.lockFile = lockFile;
    }

    @Override
    public void testPlanExecutionStarted(TestPlan plan) {
        if (lockFile == null) {
            return;
        }
        try {
            if (lock == null) {
                lock = open(Path.of(lockFile)).lock(0, Long.MAX_VALUE, true);
            } else if (lock.isShared() && isRunAgain(plan)) {
                lock = awaitOthers(lock);
            }
        } catch (IOException failure) {
            throw new IllegalStateException("The lock of the tests cannot be used: " + lockFile, failure);
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        ENDED.add(test.getUniqueId());
        result.getThrowable()
                .filter(failure -> result.getStatus() == TestExecutionResult.Status.FAILED
                        && isFinal(test.getSource().orElse(null), failure))
                .ifPresent(failure -> {
                    FINAL.add(test.getUniqueId());
                    test.getParentIdObject()
                            .filter(parent -> !TYPE_OF_CLASS.equals(
                                    parent.getLastSegment().getType()))
                            .ifPresent(method -> FINAL.add(method.toString()));
                });
    }

    @Override
    public FilterResult apply(TestDescriptor test) {
        return FilterResult.includedIf(!FINAL.contains(test.getUniqueId().toString()));
    }

    private static boolean isRunAgain(TestPlan plan) {
        return plan.getRoots().stream()
                .flatMap(root -> plan.getDescendants(root).stream())
                .anyMatch(test -> ENDED.contains(test.getUniqueId()));
    }

    /** Whether a failure must not happen even once: an assertion, but none about how long something took, or that was awaited. */
    static boolean isFinal(@Nullable TestSource source, Throwable failure) {
        return isPromise(source) && isAssertion(failure, Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    private static boolean isPromise(@Nullable TestSource source) {
        if (source instanceof MethodSource method) {
            return isPromise(method.getJavaMethod()) || isPromise(method.getJavaClass());
        }
        return source instanceof ClassSource type && isPromise(type.getJavaClass());
    }

    private static boolean isPromise(AnnotatedElement element) {
        return AnnotationSupport.isAnnotated(element, Promise.class);
    }

    private static boolean isAssertion(@Nullable Throwable failure, Set<Throwable> seen) {
        if (failure == null || Measurement.isMissedBar(failure) || !seen.add(failure)) {
            return false;
        }
        return failure instanceof AssertionError
                || (!(failure instanceof ConditionTimeoutException) && isAssertion(failure.getCause(), seen))
                || Stream.of(failure.getSuppressed()).anyMatch(each -> isAssertion(each, seen));
    }

    private static FileChannel open(Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    /** Waits until no other JVM runs tests, for a limited time. */
    private static FileLock awaitOthers(FileLock shared) throws IOException {
        FileChannel channel = shared.channel();
        shared.release(); // two JVMs that wait for each other would wait for ever
        long end = System.nanoTime() + LONGEST_WAIT.toNanos();
        while (System.nanoTime() - end < 0) {
            FileLock alone = channel.tryLock();
            if (alone != null) {
                return alone;
            }
            LockSupport.parkNanos(POLL.toNanos());
        }
        return channel.lock(0, Long.MAX_VALUE, true);
    }
}
