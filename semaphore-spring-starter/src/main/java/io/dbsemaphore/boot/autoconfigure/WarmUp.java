package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.SemaphoreEngine;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;

/** Lets the semaphores load what the first acquire needs when the application has started, so that it starts sooner. */
final class WarmUp implements ApplicationListener<ApplicationReadyEvent> {

    private final SemaphoreEngine engine;

    WarmUp(SemaphoreEngine engine) {
        this.engine = engine;
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent ready) {
        engine.warmUp();
    }
}
