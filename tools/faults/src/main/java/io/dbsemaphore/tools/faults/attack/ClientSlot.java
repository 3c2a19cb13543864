package io.dbsemaphore.tools.faults.attack;

import io.dbsemaphore.tools.faults.client.ClientSettings;
import io.dbsemaphore.tools.faults.oracle.Event;
import io.dbsemaphore.tools.faults.oracle.Oracle;
import io.dbsemaphore.tools.faults.oracle.OracleServer;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A client with its network, and its successors after it was killed. One attack at a time has it. */
final class ClientSlot implements AutoCloseable {

    /** An attack on the client holds this lock. */
    final ReentrantLock lock = new ReentrantLock();

    final Network network;
    private final String lineage;
    private final DatabaseServer server;
    private final Oracle oracle;
    private final OracleServer oracleServer;
    private final Random random;
    private final AttackPlan plan;
    private final @Nullable FakeTime clock;
    private int starts;
    private volatile ClientProcess process;

    ClientSlot(
            String lineage,
            DatabaseServer server,
            Oracle oracle,
            OracleServer oracleServer,
            Random random,
            AttackPlan plan)
            throws IOException {
        this.lineage = lineage;
        this.server = server;
        this.oracle = oracle;
        this.oracleServer = oracleServer;
        this.random = random;
        this.plan = plan;
        network = new Network(
                server::address, cut -> oracleServer.tell(Event.fault(cut, lineage)), new Random(random.nextLong()));
        clock = plan.clockSteps() ? new FakeTime(plan.logs().resolve(lineage + ".clock")) : null;
        process = start(List.of());
    }

    String lineage() {
        return lineage;
    }

    ClientProcess process() {
        return process;
    }

    /** Whether the client has begun to work. */
    boolean isAtWork() {
        return oracle.hasServed(process.name());
    }

    /** Kills the client and starts its successor, unless it is to last. */
    void killAndRestart() throws IOException, InterruptedException {
        if (plan.lasting().contains(lineage)) {
            return;
        }
        ClientProcess victim = process;
        oracleServer.tell(Event.of(Event.Kind.KILLED, victim.name(), "", ""));
        victim.kill();
        process = start(oracle.killedWith(victim.name()));
    }

    boolean canStepClock() {
        return clock != null;
    }

    /** The wall clock of the client, and of its successors, is so many seconds ahead. */
    void stepClock(long seconds) {
        Objects.requireNonNull(clock).step(seconds);
    }

    private ClientProcess start(List<Event> unfinished) throws IOException {
        starts++;
        return ClientProcess.start(
                new ClientSettings(
                        lineage + "." + starts,
                        server.urlBy(network.port()),
                        server.user(),
                        server.password(),
                        oracleServer.port(),
                        random.nextLong(),
                        plan.threads(),
                        plan.sets(),
                        plan.instanceTimeout(),
                        unfinished),
                usesEarlierBuild() ? plan.earlierBuild() : "",
                clock == null ? Map.of() : clock.environment(),
                plan.logs());
    }

    /** So that both builds work at a time, and that each has to do with what the other one has left. */
    private boolean usesEarlierBuild() {
        return (plan.clients().indexOf(lineage) + starts) % 2 == 0;
    }

    @Override
    public void close() throws IOException, InterruptedException {
        process.kill();
        network.close();
    }
}
