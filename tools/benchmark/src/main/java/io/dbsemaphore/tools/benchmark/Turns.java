package io.dbsemaphore.tools.benchmark;

import io.dbsemaphore.tools.benchmark.approach.DbSemaphoreLimiter;
import io.dbsemaphore.tools.benchmark.approach.Target;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures the cases of a scenario in turn, round by round, so that other load of the machine affects all of them alike.
 * Each build of the library has JVMs of its own, which stay the same for all scenarios.
 */
final class Turns implements AutoCloseable {

    private final Distances distances;
    private final Options options;
    private final ServerWork.Meter server;
    private final List<MeasuringJvm> currentJvms = new ArrayList<>();
    private final List<MeasuringJvm> earlierJvms = new ArrayList<>();

    Turns(Distances distances, Options options, ServerWork.Meter server) {
        this.distances = distances;
        this.options = options;
        this.server = server;
    }

    /** Starts the JVMs of both builds; returns where each has loaded the library from. */
    List<String> start() throws IOException {
        String current = jvms(false, 1).get(0).library();
        return options.earlierBuild().isEmpty()
                ? List.of(current)
                : List.of(current, jvms(true, 1).get(0).library());
    }

    /** Runs these cases without measuring them. */
    void warmUp(List<Case> cases) throws IOException {
        run(cases, options.warmUp(), 0);
    }

    /** Measures these cases of one scenario and one delay; one result for each of them. */
    List<Result> measure(List<Case> cases) throws IOException {
        Scenario scenario = cases.get(0).scenario();
        boolean newJvm = scenario.jvms() > 1;
        return run(cases, newJvm ? options.warmUp() : options.length(scenario).dividedBy(2), options.rounds());
    }

    private List<Result> run(List<Case> cases, Duration before, int rounds) throws IOException {
        open(cases);
        for (Case measured : cases) {
            round(measured, before);
        }
        Map<Case, List<Measurement>> measurements = new LinkedHashMap<>();
        for (int round = 0; round < rounds; round++) {
            for (Case measured : order(cases, round)) {
                measurements
                        .computeIfAbsent(measured, first -> new ArrayList<>())
                        .add(round(measured, options.length(measured.scenario())));
            }
        }
        return measurements.entrySet().stream()
                .map(entry -> new Result(entry.getKey(), entry.getValue()))
                .toList();
    }

    /** Another case begins every second round, and the round between them goes backwards. */
    static List<Case> order(List<Case> cases, int round) {
        List<Case> order = new ArrayList<>(cases);
        Collections.rotate(order, -(round / 2));
        if (round % 2 == 1) {
            Collections.reverse(order);
        }
        return order;
    }

    private void open(List<Case> cases) throws IOException {
        Scenario scenario = cases.get(0).scenario();
        Target target = distances.get(cases.get(0).delay()).target();
        for (boolean earlier : List.of(false, true)) {
            List<Case> own = cases.stream()
                    .filter(measured -> measured.earlierBuild() == earlier)
                    .toList();
            for (int jvm = 0; jvm < scenario.jvms() && !own.isEmpty(); jvm++) {
                jvms(earlier, scenario.jvms()).get(jvm).open(new MeasuringJvm.Open(target, scenario, own, jvm));
            }
        }
    }

    private Measurement round(Case measured, Duration duration) throws IOException {
        List<MeasuringJvm> measuring =
                jvms(measured.earlierBuild(), measured.scenario().jvms());
        if (measured.scenario().reuses()) {
            LockSupport.parkNanos(
                    DbSemaphoreLimiter.REUSE.multipliedBy(2).toNanos()); // no permit is left of a round before
        }
        for (MeasuringJvm jvm : measuring) {
            jvm.prepare(measured, duration);
        }
        ServerWork before = work(measured);
        for (MeasuringJvm jvm : measuring) {
            jvm.start();
        }
        List<Measurement> parts = new ArrayList<>();
        for (MeasuringJvm jvm : measuring) {
            parts.add(jvm.result());
        }
        return Measurement.sum(parts).with(work(measured).since(before));
    }

    private ServerWork work(Case measured) throws IOException {
        return server.read(distances.get(measured.delay()).trips());
    }

    private List<MeasuringJvm> jvms(boolean earlier, int count) throws IOException {
        List<MeasuringJvm> started = earlier ? earlierJvms : currentJvms;
        while (started.size() < count) {
            started.add(new MeasuringJvm(earlier ? options.earlierBuild() : ""));
        }
        return started.subList(0, count);
    }

    @Override
    public void close() throws IOException {
        for (List<MeasuringJvm> jvms : List.of(currentJvms, earlierJvms)) {
            for (MeasuringJvm jvm : jvms) {
                jvm.close();
            }
        }
    }
}
