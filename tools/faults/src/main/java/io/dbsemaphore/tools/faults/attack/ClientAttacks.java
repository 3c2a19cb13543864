package io.dbsemaphore.tools.faults.attack;

import io.dbsemaphore.tools.faults.oracle.Event;
import io.dbsemaphore.tools.faults.oracle.OracleServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** The attacks on one client: its process, or its network. */
final class ClientAttacks {

    private static final long HOUR = Duration.ofHours(1).toSeconds();

    private final List<ClientSlot> clients;
    private final OracleServer oracle;
    private final Pauses pauses;
    private final Duration instanceTimeout;

    ClientAttacks(List<ClientSlot> clients, OracleServer oracle, Pauses pauses, Duration instanceTimeout) {
        this.clients = clients;
        this.oracle = oracle;
        this.pauses = pauses;
        this.instanceTimeout = instanceTimeout;
    }

    List<Attack> all() {
        List<Attack> all = new ArrayList<>();
        if (clients.stream().allMatch(ClientSlot::canStepClock)) {
            all.add(new Attack("client clock stepped", Duration.ofSeconds(7), this::stepClock));
        }
        all.addAll(List.of(
                new Attack("client killed", Duration.ofSeconds(8), random -> with(random, ClientSlot::killAndRestart)),
                new Attack(
                        "client frozen", Duration.ofSeconds(5), random -> with(random, slot -> freeze(slot, random))),
                new Attack(
                        "answers delayed", Duration.ofSeconds(10), random -> with(random, slot -> delay(slot, random))),
                new Attack(
                        "network silent",
                        Duration.ofSeconds(15),
                        random -> with(random, slot -> silence(slot, random)))));
        return all;
    }

    private interface OnSlot {
        void run(ClientSlot slot) throws Exception;
    }

    /** Attacks a client that has begun to work and that no other attack is under way on; none if there is no such client. */
    private void with(Random random, OnSlot action) throws Exception {
        List<ClientSlot> inAnyOrder = new ArrayList<>(clients);
        Collections.shuffle(inAnyOrder, random);
        for (ClientSlot slot : inAnyOrder) {
            if (slot.lock.tryLock()) {
                try {
                    if (slot.isAtWork()) {
                        action.run(slot);
                        return;
                    }
                } finally {
                    slot.lock.unlock();
                }
            }
        }
    }

    /** Half of the time briefly, as by a garbage collection, otherwise for longer than the instance timeout. */
    private void freeze(ClientSlot slot, Random random) throws Exception {
        boolean brief = random.nextBoolean();
        long millis = brief ? 100 + random.nextInt(2000) : instanceTimeout.toMillis() + random.nextInt(3000);
        ClientProcess process = slot.process();
        begin("client-frozen" + (brief ? "-briefly" : "-beyond-timeout"), slot);
        process.freeze(true);
        try {
            pauses.pause(millis);
        } finally {
            process.freeze(false);
            end(slot);
        }
    }

    private void delay(ClientSlot slot, Random random) throws Exception {
        begin("answers-delayed", slot);
        slot.network.delay(20 + random.nextInt(300));
        try {
            pauses.pause(500 + random.nextInt(2500));
        } finally {
            slot.network.delay(0);
            end(slot);
        }
    }

    private void silence(ClientSlot slot, Random random) throws Exception {
        begin("network-silent", slot);
        slot.network.silence(true);
        try {
            pauses.pause(500 + random.nextInt((int) instanceTimeout.toMillis() + 2000));
        } finally {
            slot.network.silence(false);
            end(slot);
        }
    }

    /** An hour forward or back, beside other attacks on the client. Nothing may change by it. */
    private void stepClock(Random random) throws Exception {
        ClientSlot slot = clients.get(random.nextInt(clients.size()));
        boolean forward = random.nextBoolean();
        begin("client-clock-" + (forward ? "forward" : "back"), slot);
        slot.stepClock(forward ? HOUR : -HOUR);
        try {
            pauses.pause(1000 + random.nextInt(5000));
        } finally {
            slot.stepClock(0);
        }
    }

    private void begin(String fault, ClientSlot slot) {
        oracle.tell(Event.fault(fault, slot.lineage()));
    }

    private void end(ClientSlot slot) {
        oracle.tell(Event.of(Event.Kind.CALM, slot.lineage(), "", ""));
    }
}
