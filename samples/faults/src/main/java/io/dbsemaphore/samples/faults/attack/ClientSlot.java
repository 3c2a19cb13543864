package io.dbsemaphore.samples.faults.attack;

import io.dbsemaphore.samples.faults.client.ClientSettings;
import io.dbsemaphore.samples.faults.oracle.Event;
import io.dbsemaphore.samples.faults.oracle.Oracle;
import io.dbsemaphore.samples.faults.oracle.OracleServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;

/** A client with its network, and its successors after it was killed. One attack at a time has it. */
final class ClientSlot implements AutoCloseable {

    /** Who strikes has this lock. */
    final ReentrantLock lock = new ReentrantLock();

    final Network network;
    private final String lineage;
    private final DatabaseServer server;
    private final Oracle oracle;
    private final OracleServer oracleServer;
    private final Random random;
    private final int threads;
    private final Duration instanceTimeout;
    private final Path logs;
    private int starts;
    private volatile ClientProcess process;

    ClientSlot(
            String lineage,
            DatabaseServer server,
            Oracle oracle,
            OracleServer oracleServer,
            Random random,
            int threads,
            Duration instanceTimeout,
            Path logs)
            throws IOException {
        this.lineage = lineage;
        this.server = server;
        this.oracle = oracle;
        this.oracleServer = oracleServer;
        this.random = random;
        this.threads = threads;
        this.instanceTimeout = instanceTimeout;
        this.logs = logs;
        network = new Network(
                server::address, cut -> oracleServer.tell(Event.fault(cut, lineage)), new Random(random.nextLong()));
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

    /** Kills the client and starts its successor. */
    void killAndRestart() throws IOException, InterruptedException {
        ClientProcess victim = process;
        oracleServer.tell(Event.of(Event.Kind.KILLED, victim.name(), "", ""));
        victim.kill();
        process = start(oracle.killedWith(victim.name()));
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
                        threads,
                        instanceTimeout,
                        unfinished),
                logs);
    }

    @Override
    public void close() throws IOException, InterruptedException {
        process.kill();
        network.close();
    }
}
