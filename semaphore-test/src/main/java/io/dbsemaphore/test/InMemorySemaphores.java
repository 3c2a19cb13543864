package io.dbsemaphore.test;

import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreName;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.aop.WithPermitsAdvisor;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.spi.PermitManager;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.core.env.StandardEnvironment;

/**
 * Semaphores in memory, for tests: a {@link SemaphoreTemplate} with the contract of the real one, but without a database. It passes the
 * contract tests of the engine.
 *
 * <pre>{@code
 * InMemorySemaphores semaphores = InMemorySemaphores.of("partner", 50).with("tenant:*", 5);
 * QuoteService quotes = semaphores.guard(new QuoteService());
 * semaphores.refuseNext("partner");
 * }</pre>
 *
 * <p>Wait times and times to live pass by its {@link #clock()}, which a test moves. Tests can also decide how an acquire ends:
 * {@link #refuseNext}, {@link #failNext}, {@link #loseNext}, {@link #lose}.
 *
 * <p>It differs from the engine where a database or several instances matter. Waiting callers are always served in the order of their
 * arrival, or by their shares. Where a caller with a share waits, callers of several semaphores always stand behind those of one. Weights
 * are those of the settings: no {@link io.dbsemaphore.spi.ShareWeights} is asked. There is one instance, which never crashes. Listeners are
 * not called, permits are not reused, and acquires within a transaction of the application are always allowed. {@link #requireHeld} accepts
 * any open, writable transaction, because the semaphores have no {@code DataSource}. It defers a release by the same thread until that
 * transaction ends, but neither a forced release nor the reclaim of an expired grant. {@link #admin()} checks names and capacities, but not
 * operators, reasons, search texts or limits.
 *
 * <p>As on the engine, futures of {@link #acquireAsync} are completed on another thread, a moment after the release or the deadline. A test
 * waits for them, for example with {@code join}, or with AssertJ's {@code succeedsWithin} and {@code failsWithin}.
 *
 * <p>Thread-safe.
 */
public final class InMemorySemaphores extends SemaphoreTemplate {

    private final InMemoryPermits permits;
    private final MovableClock clock;
    private final SemaphoreAdmin admin;

    /** Creates an empty set of semaphores, with the default settings and a running clock. */
    public InMemorySemaphores() {
        this(SemaphoreSettings.defaults(), MovableClock.running());
    }

    /**
     * Creates an empty set of semaphores. The patterns of the settings create semaphores on first use.
     *
     * @param settings patterns, wait times, times to live, limits, weights and the owner; a share is refused where they are not fair; other
     *     settings have no effect
     * @param clock the clock of the semaphores
     */
    public InMemorySemaphores(SemaphoreSettings settings, MovableClock clock) {
        this(new InMemoryPermits(new Ledger(settings), clock), clock);
    }

    private InMemorySemaphores(InMemoryPermits permits, MovableClock clock) {
        super(permits);
        this.permits = permits;
        this.clock = clock;
        this.admin = new InMemoryAdmin(permits);
    }

    /**
     * Creates a set with one semaphore, or one pattern.
     *
     * @param name the name of a semaphore, or a pattern with a {@code *}, by which semaphores are created on first use
     * @param capacity how many permits may be held at once, at least 0
     * @return the semaphores, with the default settings and a running clock
     * @throws IllegalArgumentException if the name or the capacity is invalid
     */
    public static InMemorySemaphores of(String name, int capacity) {
        return new InMemorySemaphores().with(name, capacity);
    }

    /**
     * Adds a semaphore or a pattern. If it exists, it gets this capacity.
     *
     * @param name the name of a semaphore, or a pattern with a {@code *}, by which semaphores are created on first use
     * @param capacity how many permits may be held at once, at least 0
     * @return these semaphores
     * @throws IllegalArgumentException if the name or the capacity is invalid
     */
    public InMemorySemaphores with(String name, int capacity) {
        if (name.contains("*")) {
            permits.change(ledger -> {
                ledger.addPattern(name, capacity);
                return true;
            });
        } else if (!admin.create(name, capacity)) {
            admin.setCapacity(name, capacity, "test", "InMemorySemaphores.with");
        }
        return this;
    }

    /** {@return the clock of these semaphores} */
    public MovableClock clock() {
        return clock;
    }

    /** {@return the operations for administrators: capacities, holders, forced releases} */
    public SemaphoreAdmin admin() {
        return admin;
    }

    /** {@return the manager that grants the permits, for example to decorate it} */
    public PermitManager permitManager() {
        return permits;
    }

    /**
     * Wraps an object in a proxy, so that its {@link WithPermits} methods acquire these semaphores. Placeholders have the value of the system
     * property or environment variable, or their default. Annotations that refer to beans do not work.
     *
     * @param <T> the type of the object
     * @param bean the object, whose class is not final
     * @return a proxy of the same class
     * @throws IllegalArgumentException if no method is annotated
     * @throws IllegalStateException if an annotation is invalid
     */
    @SuppressWarnings("unchecked") // a proxy of its class
    public <T> T guard(T bean) {
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        beans.addEmbeddedValueResolver(new StandardEnvironment()::resolveRequiredPlaceholders);
        WithPermitsAdvisor advisor = new WithPermitsAdvisor(() -> this, beans);
        if (!advisor.getClassFilter().matches(bean.getClass())) {
            throw new IllegalArgumentException("%s has no @WithPermits method, so that its calls would acquire nothing"
                    .formatted(bean.getClass().getName()));
        }
        ProxyFactory proxies = new ProxyFactory(bean);
        proxies.setProxyTargetClass(true);
        proxies.addAdvisor(advisor);
        return (T) proxies.getProxy(bean.getClass().getClassLoader());
    }

    /**
     * Refuses the next acquire that names this semaphore, at once, as if others held its capacity and the wait time had passed. The caller
     * gets a {@link PermitsUnavailableException}. To refuse several acquires, call this several times.
     *
     * @param name the semaphore
     */
    public void refuseNext(String name) {
        permits.refuseNext(SemaphoreName.requireValid(name));
    }

    /**
     * Fails the next acquire that names a semaphore.
     *
     * @param name the semaphore
     * @param failure the exception of the acquire, such as an {@link io.dbsemaphore.AcquireOutcomeUnknownException} or a
     *     {@link org.springframework.dao.DataAccessException}
     */
    public void failNext(String name, RuntimeException failure) {
        permits.failNext(SemaphoreName.requireValid(name), failure);
    }

    /**
     * Takes the next grant of a semaphore away before its holder gets it, so that the work runs under a lost grant.
     *
     * @param name the semaphore
     */
    public void loseNext(String name) {
        permits.loseNext(SemaphoreName.requireValid(name));
    }

    /**
     * Takes all grants with permits of a semaphore away from their holders, as if they had expired and been reclaimed.
     *
     * @param name the semaphore
     * @return how many grants were taken
     */
    public int lose(String name) {
        return permits.lose(name);
    }

    /** Undoes calls of {@link #refuseNext}, {@link #failNext} and {@link #loseNext} that have not yet affected an acquire. */
    public void forgetScripts() {
        permits.forgetScripts();
    }
}
