package io.dbsemaphore.tools.faults.attack;

import io.dbsemaphore.tools.faults.oracle.Oracle;
import io.dbsemaphore.tools.faults.oracle.OracleServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The clients, and the attacks on them and the server. Each attack has a thread and a sequence of random numbers of its own, so that
 * the seed determines the attacks and the time between them; the threads of the machine determine the rest.
 */
public final class Attacks implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Attacks.class);
    private static final long SECONDS_TO_STOP = 180;
    private static final int LOOKS = 1800;
    private static final long LOOK_MILLIS = 100;

    private final List<ClientSlot> clients = new ArrayList<>();
    private final List<Attack> attacks = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final List<String> failures = new CopyOnWriteArrayList<>();
    private final Pauses pauses = new Pauses();
    private final Random random;
    private final AttackPlan plan;

    /** Starts the clients, through a network without faults. */
    public Attacks(DatabaseServer server, Oracle oracle, OracleServer oracleServer, AttackPlan plan)
            throws IOException {
        this.random = new Random(plan.seed());
        this.plan = plan;
        for (String name : plan.clients()) {
            DatabaseServer node = server.node(clients.size());
            clients.add(new ClientSlot(name, node, oracle, oracleServer, new Random(random.nextLong()), plan));
        }
        attacks.addAll(new ClientAttacks(clients, oracleServer, pauses, plan.instanceTimeout()).all());
        attacks.addAll(new ServerAttacks(server, oracleServer, pauses).all());
        choose(plan.attacks());
    }

    private void choose(Set<String> wanted) {
        Set<String> known = attacks.stream().map(Attacks::optionOf).collect(Collectors.toSet());
        if (!known.containsAll(wanted)) {
            throw new IllegalArgumentException("--attacks=%s: there are only %s here".formatted(wanted, known));
        }
        Set<String> paced = plan.pace().exceptions().keySet();
        if (!known.containsAll(paced)) {
            throw new IllegalArgumentException("--pace with %s: there are only %s here".formatted(paced, known));
        }
        attacks.removeIf(attack -> !wanted.isEmpty() && !wanted.contains(optionOf(attack)));
    }

    private static String optionOf(Attack attack) {
        return attack.name().replace(' ', '-');
    }

    /** Begins when all clients work. */
    public void begin() throws InterruptedException {
        for (ClientSlot client : clients) {
            for (int look = 0; !client.isAtWork(); look++) {
                if (look == LOOKS) {
                    throw new IllegalStateException(client.lineage() + " has not begun to work; its output says why");
                }
                Thread.sleep(LOOK_MILLIS);
            }
        }
        clients.forEach(client -> client.network.cut(plan.cuts()));
        for (Attack attack : attacks) {
            Random own = new Random(random.nextLong());
            Thread thread = new Thread(() -> repeat(attack, own), attack.name());
            threads.add(thread);
            thread.start();
        }
    }

    /** Ends all attacks; when it returns nothing is disturbed any more. */
    public void end() throws InterruptedException {
        pauses.stop();
        for (Thread thread : threads) {
            thread.join();
        }
        clients.forEach(client -> client.network.cut(0));
    }

    /** Lets the clients end what they do, and stop. */
    public void stopClients() throws InterruptedException {
        clients.forEach(client -> client.process().askToStop());
        for (ClientSlot client : clients) {
            if (!client.process().awaitEnd(SECONDS_TO_STOP)) {
                log.error("{} has not stopped within {} s", client.process().name(), SECONDS_TO_STOP);
            }
        }
    }

    /** Attacks that could not be carried out: such a run shows less than it should. */
    public List<String> failures() {
        return List.copyOf(failures);
    }

    private void repeat(Attack attack, Random own) {
        try {
            while (!pauses.isStopped()) {
                pauses.pause((long)
                        (attack.every().toMillis() * plan.pace().of(optionOf(attack)) * (0.5 + own.nextDouble())));
                if (!pauses.isStopped()) {
                    attack.action().run(own);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception failure) {
            log.error("No more of: {}", attack.name(), failure);
            failures.add(attack.name() + ": " + failure);
        }
    }

    @Override
    public void close() throws IOException, InterruptedException {
        pauses.stop();
        for (ClientSlot client : clients) {
            client.close();
        }
    }
}
