package io.dbsemaphore.engine;

import io.dbsemaphore.persistence.CommitOutcomeUnknownException;
import io.dbsemaphore.persistence.GrantOrder;
import io.dbsemaphore.persistence.GrantOutcome;
import io.dbsemaphore.persistence.GrantResult;
import io.dbsemaphore.persistence.GrantRound;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;

/** Each caller grants his own order, on his own thread; some at a time, so that connections are left for what is urgent. */
final class DirectGrants implements Grants {

    private final GrantAttempt attempt;
    private final TransientRetry retry;
    private final PermitWaiter waiter;
    private final Semaphore gate;

    DirectGrants(GrantAttempt attempt, TransientRetry retry, PermitWaiter waiter, int atOnce) {
        this.attempt = attempt;
        this.retry = retry;
        this.waiter = waiter;
        this.gate = new Semaphore(atOnce, true);
    }

    @Override
    public Answer grant(GrantOrder order, Wait wait) {
        return waiter.await(order, wait, () -> Uninterrupted.call(() -> grant(order)));
    }

    private Answer grant(GrantOrder order) {
        gate.acquireUninterruptibly();
        try {
            long lapses = order.isKeptAlive() ? retry.call(attempt::prepareKept) : 0;
            return retry.call(() -> attempt(order, lapses));
        } finally {
            gate.release();
        }
    }

    private Answer attempt(GrantOrder order, long lapses) {
        try {
            long asOf = System.nanoTime(); // a time to live begins later than this
            GrantRound round = GrantRound.of(order);
            GrantResult result = attempt.run(() -> round);
            GrantOutcome outcome = result.outcomes().get(0);
            order.setFateUnknown(false);
            attempt.tell(result);
            return new Answer(outcome, asOf, lapses);
        } catch (CommitOutcomeUnknownException unknown) {
            order.setFateUnknown(true);
            throw unknown;
        }
    }

    @Override
    public boolean takesAlong(Set<String> names) {
        return false;
    }

    @Override
    public void releasing(Map<String, Integer> permits) {
        throw new UnsupportedOperationException("Who grants directly takes nothing along");
    }

    @Override
    public void released(Map<String, Integer> permits) {
        waiter.signal();
    }

    @Override
    public void lookAgain() {
        waiter.signal();
    }

    @Override
    public void close() {
        waiter.close();
    }
}
