package io.dbsemaphore.aop;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ReactiveTypeDescriptor;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;

/** A guarded bean with reactive methods, one of them of a type that is registered for it. */
abstract class ReactiveFixture {

    static final Duration PATIENCE = Duration.ofSeconds(10);

    final GuardedContext context = GuardedContext.of(ReactiveBackup.class);
    final InMemoryPermitManager permits = context.permits;
    final ReactiveBackup backup = context.bean(ReactiveBackup.class);

    @BeforeAll
    static void registerATypeOfOurOwn() {
        ReactiveAdapterRegistry.getSharedInstance()
                .registerReactiveType(
                        ReactiveTypeDescriptor.singleRequiredValue(ReactiveBackup.Promise.class),
                        promise -> ((ReactiveBackup.Promise) promise).mono(),
                        publisher ->
                                new ReactiveBackup.Promise(Mono.from(publisher).cast(Integer.class)));
    }

    @AfterEach
    void close() {
        Hooks.resetOnErrorDropped();
        context.close();
    }
}
