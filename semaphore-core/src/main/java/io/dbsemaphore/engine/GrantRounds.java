package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.engine.GrantBoard.Round;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.Availability;
import io.dbsemaphore.persistence.CommitOutcomeUnknownException;
import io.dbsemaphore.persistence.GrantOrder;
import io.dbsemaphore.persistence.GrantOutcome;
import io.dbsemaphore.persistence.GrantResult;
import io.dbsemaphore.persistence.GrantRound;
import io.dbsemaphore.persistence.PartialReleaseException;
import io.dbsemaphore.persistence.SemaphorePersistence;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;

/**
 * Does the rounds: one transaction for all that has gathered, and to each caller his own outcome. A round that fails is
 * taken apart, so that only he sees the error whose order causes it.
 */
final class GrantRounds implements Lanes.Desk {

    private final GrantBoard board;
    private final GrantAttempt attempt;
    private final GatheredReleases releases;
    private final BackgroundReleases background;
    private final LineWatch watch;
    private final Regulars regulars;
    private final int maxAttempts;
    private final Duration lockWait;

    GrantRounds(
            GrantBoard board,
            GrantAttempt attempt,
            GatheredReleases releases,
            BackgroundReleases background,
            LineWatch watch,
            Regulars regulars,
            int maxAttempts,
            Duration lockWait) {
        this.board = board;
        this.attempt = attempt;
        this.releases = releases;
        this.background = background;
        this.watch = watch;
        this.regulars = regulars;
        this.maxAttempts = maxAttempts;
        this.lockWait = lockWait;
    }

    @Override
    public long nanosToWork() {
        return releases.hasRiders() ? 0 : board.nanosToWork();
    }

    /** What a round took once it had a connection. */
    private static final class Taken {

        private @Nullable Round round;
        private GatheredReleases.@Nullable Ride ride;
        private long lapses;
    }

    @Override
    public void work(boolean mayWait) {
        Taken taken = new Taken();
        GrantResult result = null;
        try {
            boolean keptToo = board.hasKept();
            taken.lapses = keptToo ? attempt.prepareKept() : 0;
            // the connection comes first: meanwhile more gathers, and who gives up has had nothing done for him
            result = attempt.run(() -> take(taken, keptToo, mayWait));
        } catch (RuntimeException | Error failure) {
            failed(taken, failure);
        }
        if (result != null && taken.round != null) {
            done(taken.round, taken, result);
        }
        if (board.waiters().isAny()) {
            watch.begin();
        }
        if (mayWait && taken.round != null && board.hasCompany()) {
            regulars.await(Duration.ofNanos(System.nanoTime() - taken.round.begunAt()));
        } else {
            regulars.forget();
        }
    }

    private GrantRound take(Taken taken, boolean keptToo, boolean mayWait) {
        Round round = board.take(keptToo, mayWait, releases.hasRiders());
        taken.round = round;
        if (round.isWaiting()) { // releases must not
            return round.grants(Collections.emptySortedMap());
        }
        GatheredReleases.Ride ride = releases.takeRiders();
        taken.ride = ride;
        return round.grants(ride.permitIds());
    }

    private void done(Round round, Taken taken, GrantResult result) {
        List<GrantOutcome> outcomes = result.outcomes();
        try {
            finish(round, result.availability(), () -> settle(round, outcomes, taken.lapses));
        } finally {
            if (taken.ride != null) {
                regulars.leave(taken.ride.releases());
                taken.ride.done(result.released());
            }
        }
        attempt.tell(result);
    }

    private void failed(Taken taken, Throwable failure) {
        boolean reached = taken.round != null;
        Round round = taken.round != null ? taken.round : board.take(true, true, false);
        if (failure instanceof PartialReleaseException) {
            finish(
                    round,
                    Map.of(),
                    () -> round.members().stream()
                            .filter(pending -> pending.place() == PendingGrant.Place.ROUND)
                            .forEach(this::again));
        } else {
            finish(round, Map.of(), () -> fail(round, failure, reached));
        }
        boolean again = taken.ride != null
                ? taken.ride.failed(failure)
                : !reached && releases.takeRiders().failed(failure);
        if (again
                || round.members().stream()
                        .anyMatch(pending -> !pending.answer().isDone())) {
            attempt.tellRetried(failure);
        }
    }

    private void finish(Round round, Map<String, Availability> availability, Runnable moves) {
        board.finish(round, availability, () -> {
            try {
                moves.run();
            } catch (RuntimeException | Error unforeseen) { // nobody may wait for ever
                round.members().stream()
                        .filter(pending -> pending.place() == PendingGrant.Place.ROUND)
                        .forEach(pending -> giveUp(pending, unforeseen));
            }
        });
        round.members().stream().filter(PendingGrant::isDecided).forEach(pending -> {
            regulars.leave(1);
            pending.tell();
        });
    }

    /** It may have been granted, so that it has to be undone. */
    private static void giveUp(PendingGrant pending, Throwable failure) {
        if (pending.order().isClaimed()) {
            pending.order().setFateUnknown(true);
        }
        pending.decide(new IllegalStateException("A grant failed: " + failure, failure));
    }

    private void settle(Round round, List<GrantOutcome> outcomes, long lapses) {
        for (int i = 0; i < outcomes.size(); i++) {
            PendingGrant pending = round.members().get(i);
            if (pending.place() == PendingGrant.Place.ROUND) {
                settle(pending, new Grants.Answer(outcomes.get(i), round.begunAt(), lapses));
            }
        }
    }

    private void settle(PendingGrant pending, Grants.Answer answer) {
        GrantOutcome outcome = answer.outcome();
        GrantOrder order = pending.order();
        if (outcome instanceof GrantOutcome.Postponed postponed) {
            postpone(pending, postponed.name());
            return;
        }
        order.setFateUnknown(false);
        if (outcome instanceof GrantOutcome.Granted) {
            if (pending.isAbandoned()) {
                background.undo(order);
            }
            pending.decide(answer);
            return;
        }
        order.unclaim();
        if (outcome instanceof GrantOutcome.Refused refused) {
            order.refused();
            pending.refused(refused.shortages());
            board.refused(pending);
            pending.setBlockedBy(null);
            pending.setPostponedUntil(null);
            if (order.isPatient() && !pending.isAbandoned()) {
                park(pending);
                return;
            }
        }
        pending.decide(answer);
    }

    private void park(PendingGrant pending) {
        if (board.isClosed()) {
            pending.decide(new SemaphoreClosedException());
        } else {
            board.park(pending);
        }
    }

    /** Somebody else has locked a row. It may be waited for in another round, or looked at again, but not for ever. */
    private void postpone(PendingGrant pending, String name) {
        pending.order().unclaim();
        boolean again = pending.blockedBy() != null;
        pending.setBlockedBy(name);
        board.contested();
        Deadline until = pending.postponedUntil();
        if (until == null) {
            pending.setPostponedUntil(Deadline.in(lockWait));
        } else if (until.isPassed()) {
            pending.setPostponedUntil(null);
            CannotAcquireLockException failure =
                    new CannotAcquireLockException("A row of the semaphores %s was locked by another transaction for %s"
                            .formatted(pending.names(), lockWait));
            if (pending.failed(failure) >= maxAttempts || !isInTime(pending)) {
                pending.decide(failure);
                return;
            }
        }
        // who was not passed over before, may wait for the row at once
        pauseAndTryAgain(
                pending, again ? Duration.ofMillis(ThreadLocalRandom.current().nextLong(2, 20)) : Duration.ZERO);
    }

    private void fail(Round round, Throwable failure, boolean reached) {
        boolean unknown = failure instanceof CommitOutcomeUnknownException;
        boolean unreachable = !reached || unknown || SemaphorePersistence.isUnreachable(failure);
        RuntimeException shown = failure instanceof CommitOutcomeUnknownException commit
                ? commit.translatedCause()
                : failure instanceof RuntimeException exception
                        ? exception
                        : new IllegalStateException("A grant failed: " + failure, failure);
        for (PendingGrant pending : round.members()) {
            if (unknown && pending.order().isClaimed()) {
                pending.order().setFateUnknown(true);
            } else if (!pending.order().isFateUnknown()) {
                pending.order().unclaim();
            }
            if (pending.place() != PendingGrant.Place.ROUND) {
                continue;
            }
            if (pending.isAbandoned()) {
                if (pending.order().isFateUnknown()) {
                    background.undo(pending.order());
                }
                pending.decide(shown);
            } else if (round.members().size() > 1 && !unreachable) {
                pending.goAlone();
                again(pending);
            } else {
                failOrTryAgain(pending, shown, failure, unreachable);
            }
        }
    }

    private void failOrTryAgain(PendingGrant pending, RuntimeException shown, Throwable failure, boolean unreachable) {
        int attempts = pending.failed(shown);
        boolean worthIt = Attempts.remain(failure, attempts, maxAttempts, pending.begunAt())
                && (!SqlErrors.isLockWait(failure) || isInTime(pending));
        boolean timeLeft = (unreachable || SqlErrors.isVictim(failure))
                && pending.order().isPatient()
                && !pending.deadline().isPassed();
        if (worthIt || timeLeft) {
            long millis = Math.min(500, 20L << Math.min(attempts - 1, 5));
            pauseAndTryAgain(
                    pending,
                    Duration.ofMillis(millis / 2 + ThreadLocalRandom.current().nextLong(millis)));
        } else {
            pending.decide(shown);
        }
    }

    /** Whether a row may be waited for, in all attempts taken together, although its caller does not wait for permits. */
    private boolean isInTime(PendingGrant pending) {
        return !pending.isWaitOver()
                || !Deadline.after(pending.deadline().nanos(), lockWait).isPassed();
    }

    private void pauseAndTryAgain(PendingGrant pending, Duration pause) {
        pending.pauseUntil(Deadline.in(pause));
        again(pending);
    }

    private void again(PendingGrant pending) {
        if (board.isClosed() && !pending.order().isFateUnknown()) {
            pending.decide(new SemaphoreClosedException());
        } else {
            board.again(pending);
        }
    }
}
