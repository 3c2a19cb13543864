package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.spi.PermitManager;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.Environment;

/**
 * Grants every request at once, and remembers none. The handle of a grant behaves as that of a real one, except that it is never
 * lost and its fencing tokens are 0, lower than those of any real grant.
 *
 * @param inTestSlice whether the context is that of a test slice of Spring Boot; otherwise the semaphores are disabled
 * @param told whether the first grant was logged
 */
record UncountedPermits(boolean inTestSlice, String owner, Duration defaultTtl, AtomicBoolean told)
        implements PermitManager {

    private static final Logger log = LoggerFactory.getLogger(UncountedPermits.class);

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        if (!told.getAndSet(true)) {
            Set<String> names = request.permits().keySet();
            if (inTestSlice) {
                log.info(
                        "Permits of {} were granted without being counted, as are all others: a test slice has no"
                                + " semaphores. To test a limit, use @SpringBootTest",
                        names);
            } else {
                log.warn(
                        "Permits of {} were granted without being counted, as are all others: no limit is enforced"
                                + " in this application, since semaphore.enabled=false",
                        names);
            }
        }
        Instant now = Instant.now();
        return new AcquireResult.Granted(new Grant(
                request.externalId().orElseGet(() -> UUID.randomUUID().toString()),
                request.owner().orElse(owner),
                request.label(),
                Collections.unmodifiableSortedMap(new TreeMap<>(request.permits())),
                now,
                new AtomicReference<>(
                        request.isWithoutTtl() ? null : now.plus(request.ttl().orElse(defaultTtl))),
                new AtomicBoolean()));
    }

    @Override
    public AcquireResult acquireForWork(AcquireRequest request) {
        return acquire(request);
    }

    @Override
    public CompletableFuture<AcquireResult> acquireAsync(AcquireRequest request) {
        return CompletableFuture.completedFuture(acquire(request));
    }

    @Override
    public ReleaseOutcome release(String externalId) {
        return ReleaseOutcome.NOT_FOUND;
    }

    @Override
    public Optional<PermitGrant> find(String externalId) {
        return Optional.empty();
    }

    @Override
    public PermitGrant renew(String externalId, Duration ttl) {
        throw new PermitLostException(externalId, Map.of());
    }

    @Override
    public void requireHeld(PermitGrant grant) {
        if (!grant.isHeld()) {
            throw new PermitLostException(grant.externalId(), grant.permits());
        }
    }

    private record Grant(
            String externalId,
            String owner,
            Optional<String> label,
            SortedMap<String, Integer> permits,
            Instant acquiredAt,
            AtomicReference<@Nullable Instant> expiry,
            AtomicBoolean released)
            implements PermitGrant {

        @Override
        public long fencingToken(String name) {
            if (!permits.containsKey(name)) {
                throw new IllegalArgumentException(
                        "The grant has no permit of semaphore '" + name + "', but of " + permits.keySet());
            }
            return 0;
        }

        @Override
        public Optional<Instant> expiresAt() {
            return Optional.ofNullable(expiry.get());
        }

        @Override
        public boolean isReplayed() {
            return false;
        }

        @Override
        public boolean isHeld() {
            return !released.get();
        }

        @Override
        public PermitGrant renew(Duration ttl) {
            if (!isHeld()) {
                throw new PermitLostException(externalId, permits);
            }
            expiry.set(Instant.now().plus(ttl));
            return this;
        }

        @Override
        public ReleaseOutcome release() {
            return released.getAndSet(true) ? ReleaseOutcome.ALREADY_RELEASED : ReleaseOutcome.RELEASED;
        }
    }

    /** Answers like a database without semaphores, and creates none. */
    private static <T> T withoutSemaphores(Class<T> contract) {
        return ProxyFactory.getProxy(contract, (MethodInterceptor)
                call -> switch (call.getMethod().getName()) {
                    case "create", "delete" -> false;
                    case "find" -> Optional.empty();
                    case "list", "since", "instances", "capacityHistory", "reclaims" -> List.of();
                    case "now" -> Instant.now();
                    case "forceRelease" -> ReleaseOutcome.NOT_FOUND;
                    case "granted", "releaseOrphans", "deleteReleasedRequests", "deleteCapacityHistory" -> 0;
                    case "toString" -> contract.getSimpleName() + " without semaphores";
                    default -> throw SemaphoreNotFoundException.nothingChanged((String) call.getArguments()[0]);
                });
    }

    /** The beans to inject where permits are granted without being counted. */
    @Configuration(proxyBeanMethods = false)
    @ImportRuntimeHints(Hints.class)
    static final class Beans {

        @Bean
        @ConditionalOnMissingBean(SemaphoreOperations.class)
        SemaphoreTemplate semaphoreTemplate(Environment environment) {
            boolean inTestSlice = OnEnabled.isIn(environment);
            Duration defaultTtl = Binder.get(environment)
                    .bind(SemaphoreSettings.DEFAULT_TTL.property(), Duration.class)
                    .orElseGet(() -> SemaphoreSettings.defaults().get(SemaphoreSettings.DEFAULT_TTL));
            return new SemaphoreTemplate(
                    new UncountedPermits(inTestSlice, InstanceOwner.of(environment), defaultTtl, new AtomicBoolean()));
        }

        @Bean
        @ConditionalOnMissingBean
        SemaphoreAdmin semaphoreAdmin() {
            return withoutSemaphores(SemaphoreAdmin.class);
        }

        @Bean
        @ConditionalOnMissingBean
        SemaphoreMaintenance semaphoreMaintenance() {
            return withoutSemaphores(SemaphoreMaintenance.class);
        }
    }

    /** Hints for native images. */
    static final class Hints implements RuntimeHintsRegistrar {

        @Override
        public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
            for (Class<?> contract : List.of(SemaphoreAdmin.class, SemaphoreMaintenance.class)) {
                hints.proxies().registerJdkProxy(AopProxyUtils.completeJdkProxyInterfaces(contract));
            }
        }
    }
}
