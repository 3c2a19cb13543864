package io.dbsemaphore.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.spi.PermitManager;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The contract finds semaphores that break it. */
class BrokenSemaphoresTests {

    enum Defect {
        GRANTS_ONE_TOO_MANY("grantsUpToTheCapacity", request -> request),
        GRANTS_ONE_WHATEVER_IS_ASKED("createsSemaphoresOfAPattern", request -> copy(request, request.externalId())),
        NEVER_WAITS("handsAReleasedPermitToACallerThatWaits", request -> request.withWaitTime(Duration.ZERO)),
        NEVER_EXPIRES("expiresWhenTheTimeToLiveHasPassed", AcquireRequest::withoutTtl),
        NEVER_KEEPS_ALIVE("keepsAGrantAliveUntilItsMaximumHold", request -> request.withKeepAlive(false)),
        FORGETS_THE_EXTERNAL_ID("anExternalIdIsOneGrant", request -> copy(request, Optional.empty())),
        SHARES_WHAT_IS_EXCLUSIVE(
                "anExclusiveGrantHasTheWholeCapacityWhateverItBecomes", request -> copy(request, request.externalId())),
        ADOPTS_ALWAYS("runsTheWorkOfAHeldRequestOnlyIfItAdoptsIt", request -> request.withAdopt(true)),
        RELEASES_AT_ONCE("aReleaseWaitsForTheTransactionThatHasCheckedTheGrant", request -> request),
        FORGETS_TO_CHECK("requireHeldNeedsATransactionAndTheGrant", request -> request);

        private final String foundBy;
        private final UnaryOperator<AcquireRequest> change;

        Defect(String foundBy, UnaryOperator<AcquireRequest> change) {
            this.foundBy = foundBy;
            this.change = change;
        }

        /** One permit of each semaphore. */
        private static AcquireRequest copy(AcquireRequest request, Optional<String> externalId) {
            AcquireRequest copy = AcquireRequest.of(request.permits().keySet().toArray(String[]::new));
            return externalId.map(copy::withExternalId).orElse(copy);
        }
    }

    private static Defect defect;

    @BeforeAll
    static void awaitNothingForLong() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(1));
    }

    @AfterAll
    static void awaitAsBefore() {
        Awaitility.reset();
    }

    @ParameterizedTest
    @EnumSource
    void areFoundOut(Defect each) {
        defect = each;

        assertThat(TestRun.of(selectMethod(Broken.class, each.foundBy)).failures())
                .hasSize(1);
    }

    static class Broken extends InMemoryContractTests {

        @Override
        SemaphoreTemplate semaphores() {
            return new SemaphoreTemplate(new BrokenPermits(((InMemorySemaphores) super.semaphores()).permitManager()));
        }

        @Override
        SemaphoreAdmin admin() {
            SemaphoreAdmin admin = super.admin();
            if (defect == Defect.GRANTS_ONE_TOO_MANY) {
                return (SemaphoreAdmin) Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {SemaphoreAdmin.class},
                        (proxy, method, arguments) -> {
                            if (method.getName().equals("create")) {
                                arguments[1] = (int) arguments[1] + 1;
                            }
                            return method.invoke(admin, arguments);
                        });
            }
            return admin;
        }
    }

    private record BrokenPermits(PermitManager permits) implements PermitManager {

        @Override
        public AcquireResult acquire(AcquireRequest request) {
            return permits.acquire(defect.change.apply(request));
        }

        @Override
        public AcquireResult acquireForWork(AcquireRequest request) {
            return permits.acquireForWork(defect.change.apply(request));
        }

        @Override
        public CompletableFuture<AcquireResult> acquireAsync(AcquireRequest request) {
            return permits.acquireAsync(defect.change.apply(request));
        }

        @Override
        public ReleaseOutcome release(String externalId) {
            return permits.release(externalId);
        }

        @Override
        public Optional<PermitGrant> find(String externalId) {
            return permits.find(externalId);
        }

        @Override
        public PermitGrant renew(String externalId, Duration ttl) {
            return permits.renew(externalId, ttl);
        }

        @Override
        public void requireHeld(PermitGrant grant) {
            if (defect != Defect.FORGETS_TO_CHECK && defect != Defect.RELEASES_AT_ONCE) {
                permits.requireHeld(grant);
            }
        }
    }
}
