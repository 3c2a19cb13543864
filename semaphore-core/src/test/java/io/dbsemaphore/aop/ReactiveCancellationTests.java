package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** A subscription that is cancelled, or whose acquire waits, blocks no thread and loses no permit. */
class ReactiveCancellationTests extends ReactiveFixture {

    @Test
    void releasesOnCancel() throws Exception {
        CountDownLatch subscribed = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        Disposable subscription = backup.flux(Flux.<Integer>never()
                        .doOnSubscribe(it -> subscribed.countDown())
                        .doOnCancel(cancelled::countDown))
                .subscribe();
        assertThat(subscribed.await(10, TimeUnit.SECONDS)).as("subscribed").isTrue();
        assertThat(permits.held("backup")).isEqualTo(1);

        subscription.dispose();

        assertThat(cancelled.await(10, TimeUnit.SECONDS)).as("cancelled").isTrue();
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(permits.held("backup")).isZero());
        assertThat(permits.releases).hasValue(1);
    }

    @Test
    void releasesWhenNoMoreElementsAreWanted() {
        assertThat(backup.flux(Flux.range(1, 100)).next().block(PATIENCE)).isEqualTo(1);

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(permits.held("backup")).isZero());
        assertThat(permits.releases).hasValue(1);
    }

    @Test
    void givesAGrantBackThatComesAfterTheCancellation() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        permits.answer = answer;
        Disposable subscription = backup.mono(Mono.just(1)).subscribe();
        assertThat(permits.granted.await(10, TimeUnit.SECONDS)).as("granted").isTrue();

        subscription.dispose();
        answer.countDown();

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(permits.events).containsExactly("acquire", "release"));
        assertThat(permits.held("backup")).isZero();
        assertThat(backup.calls()).hasValue(0);
    }

    @Test
    void endsTheWaitWhenCancelled() throws Exception {
        AtomicReference<Throwable> dropped = new AtomicReference<>();
        Hooks.onErrorDropped(dropped::set);
        permits.capacity("backup", 0);
        Disposable subscription = backup.patient(Mono.just(1)).subscribe();
        assertThat(permits.waiting.await(10, TimeUnit.SECONDS)).as("waiting").isTrue();
        Thread waiter = permits.acquiringThreads.get(0);

        subscription.dispose();

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(waiter.getStackTrace())
                        .noneMatch(frame -> frame.getClassName().equals(InMemoryPermitManager.class.getName())));
        permits.capacity("backup", 1);
        assertThat(backup.mono(Mono.just(2)).block(PATIENCE)).isEqualTo(2);
        assertThat(permits.held("backup")).isZero();
        assertThat(dropped).hasNullValue();
    }

    @Test
    void neverTouchesTheDatabaseOnTheThreadOfTheSubscriber() {
        Scheduler eventLoop = Schedulers.newSingle("event-loop");
        AtomicReference<Thread> loop = new AtomicReference<>();
        try {
            Mono.fromRunnable(() -> loop.set(Thread.currentThread()))
                    .subscribeOn(eventLoop)
                    .block(PATIENCE);

            backup.mono(Mono.just(1).publishOn(eventLoop))
                    .subscribeOn(eventLoop)
                    .block(PATIENCE);
        } finally {
            eventLoop.dispose();
        }

        assertThat(permits.acquiringThreads).hasSize(1).doesNotContain(loop.get());
        assertThat(permits.releasingThreads).hasSize(1).doesNotContain(loop.get());
    }

    @Test
    void letsTheHolderEndHoweverManyWait() throws Exception {
        Sinks.One<Integer> work = Sinks.one();
        int waiters = 20 * Runtime.getRuntime().availableProcessors();
        CountDownLatch subscribed = new CountDownLatch(1);
        Mono<Integer> first = backup.patient(work.asMono()
                        .publishOn(Schedulers.boundedElastic())
                        .doOnSubscribe(it -> subscribed.countDown()))
                .cache();
        first.subscribe();
        assertThat(subscribed.await(10, TimeUnit.SECONDS)).as("holding").isTrue();
        Mono<Long> others = Flux.range(0, waiters)
                .flatMap(i -> backup.patient(Mono.just(i)), waiters)
                .count()
                .cache();
        others.subscribe();
        assertThat(permits.waiting.await(10, TimeUnit.SECONDS)).as("waiting").isTrue();

        work.tryEmitValue(1).orThrow();

        assertThat(others.block(PATIENCE)).isEqualTo(waiters);
        assertThat(permits.peak("backup")).isEqualTo(1);
    }
}
