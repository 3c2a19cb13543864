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
 * Semaphores in memory, for tests: a {@link SemaphoreTemplate} with the contract of the real one and without a database. It runs the contract
 * tests that the engine runs.
 *
 * <pre>{@code
 * InMemorySemaphores semaphores = InMemorySemaphores.of("partner", 50).with("tenant:*", 5);
 * QuoteService quotes = semaphores.guard(new QuoteService());
 * semaphores.refuseNext("partner");
 * }</pre>
 *
 * <p>Time is that of its {@link #clock()}: it tells when a wait time or a time to live has passed, and a test moves it. Tests can also
 * decide how an acquire ends: {@link #refuseNext}, {@link #failNext}, {@link #loseNext}, {@link #lose}.
 *
 * <p>It differs from the engine where a database or several instances matter. Callers that wait are always served in the order of their
 * arrival. There is one instance, which never dies. Listeners are not called, permits are not reused, and acquires within a transaction of
 * the application are always allowed. {@link #requireHeld} accepts any open, writable transaction, since it cannot be known whether that is on
 * the {@code DataSource} of the semaphores. Transactions that have checked a grant defer its release on their own thread only, and neither a
 * forced release nor the acquire that takes its permits once it has expired. {@link #admin()} checks names and capacities, but no operators,
 * reasons, search texts or limits.
 *
 * <p>Futures of {@link #acquireAsync} are completed as on the engine: on another thread, soon after what completes them. A test waits for them,
 * for example with {@code join}, or with AssertJ's {@code succeedsWithin} and {@code failsWithin}.
 *
 * <p>Thread-safe.
 */
public final class InMemorySemaphores extends SemaphoreTemplate {

    private final InMemoryPermits permits;
    private final MovableClock clock;
    private final SemaphoreAdmin admin;

    /** Creates semaphores with the default settings and a running clock, none at first. */
    public InMemorySemaphores() {
        this(SemaphoreSettings.defaults(), MovableClock.running());
    }

    /**
     * Creates semaphores, none at first but for those that the patterns of the settings create.
     *
     * @param settings patterns, wait times, times to live, limits and the owner; the others have no effect
     * @param clock the time
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
     * Creates semaphores with one that exists, or one pattern.
     *
     * @param name the name of a semaphore, or a pattern with a {@code *} for those that are created when they are first acquired
     * @param capacity how many permits may be held at once, at least 0
     * @return the semaphores, with the default settings and a running clock
     * @throws IllegalArgumentException if the name or the capacity is invalid
     */
    public static InMemorySemaphores of(String name, int capacity) {
        return new InMemorySemaphores().with(name, capacity);
    }

    /**
     * Adds a semaphore, or a pattern. One that exists gets this capacity.
     *
     * @param name the name of a semaphore, or a pattern with a {@code *} for those that are created when they are first acquired
     * @param capacity how many permits may be held at once, at least 0
     * @return these semaphores
     * @throws IllegalArgumentException if the name or the capacity is invalid
     */
    public InMemorySemaphores with(String name, int capacity) {
        if (name.contains("*")) {
            boolean unused = permits.change(ledger -> {
                ledger.addPattern(name, capacity);
                return true;
            });
        } else if (!admin.create(name, capacity)) {
            admin.setCapacity(name, capacity, "test", "InMemorySemaphores.with");
        }
        return this;
    }

    /** {@return the time of these semaphores} */
    public MovableClock clock() {
        return clock;
    }

    /** {@return the operations for administrators: capacities, holders, forced releases} */
    public SemaphoreAdmin admin() {
        return admin;
    }

    /** {@return what grants the permits, to be decorated} */
    public PermitManager permitManager() {
        return permits;
    }

    /**
     * Wraps an object as Spring does a bean with {@link WithPermits} methods: they acquire these semaphores. Placeholders have the value of
     * the system property or environment variable, or their default. Annotations that refer to beans do not work.
     *
     * @param <T> the type of the object
     * @param bean the object, whose class is not final
     * @return a proxy of the same class
     * @throws IllegalArgumentException if it has no such method
     * @throws IllegalStateException if an annotation cannot work
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
     * Refuses the next acquire that names a semaphore, at once: as if others held its capacity, and the wait time had passed. The caller
     * gets a {@link PermitsUnavailableException}. May be called several times, for as many acquires.
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
     * Takes the next grant of a semaphore from its holder before that gets it: the work runs under a lost grant.
     *
     * @param name the semaphore
     */
    public void loseNext(String name) {
        permits.loseNext(SemaphoreName.requireValid(name));
    }

    /**
     * Takes all grants with permits of a semaphore from their holders, as if they had expired and been reclaimed.
     *
     * @param name the semaphore
     * @return how many grants were taken
     */
    public int lose(String name) {
        return permits.lose(name);
    }

    /** Forgets what {@link #refuseNext}, {@link #failNext} and {@link #loseNext} were told and no acquire has met. */
    public void forgetScripts() {
        permits.forgetScripts();
    }
}
