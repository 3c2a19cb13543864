package io.dbsemaphore.samples.backup.demo;

import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.samples.backup.Pause;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;
import org.springframework.context.annotation.Profile;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/** Starts jobs, watches those of all instances until the last has ended, and says whether the limits held. */
@Component
@Profile("demo")
public class Demo {

    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(250);

    private final DemoProperties properties;
    private final DemoInstances instances;
    private final DemoJobs jobs;
    private final SemaphoreAdmin admin;

    Demo(DemoProperties properties, DemoInstances instances, DemoJobs jobs, SemaphoreAdmin admin) {
        this.properties = properties;
        this.instances = instances;
        this.jobs = jobs;
        this.admin = admin;
    }

    /** Runs the demo; returns the exit code of its {@link Verdict}. */
    public int run() {
        Limits limits = Limits.of(admin);
        DemoPrinter printer = new DemoPrinter(System.out, limits);
        printer.introduction(properties);
        instances.join();
        watch(properties.gatherTime(), run -> run.participants().size() >= properties.instances(), printer);
        jobs.start();
        printer.heading();
        Optional<Run> end = watch(limit(), run -> follow(run, printer), printer);
        end.ifPresent(printer::summary);
        Verdict verdict =
                end.map(run -> Verdict.of(run, limits, jobs.areDone(run))).orElse(Verdict.INCOMPLETE);
        printer.verdict(verdict);
        return verdict.exitCode();
    }

    private boolean follow(Run run, DemoPrinter printer) {
        if (!jobs.goOn(run) && jobs.haveEnded(run)) {
            instances.finish();
        }
        printer.news(run);
        return run.isOver();
    }

    private Duration limit() {
        return properties.duration().plus(properties.timeLimit());
    }

    /** Looks until it has seen enough or its time is up; returns what it saw last. */
    private Optional<Run> watch(Duration limit, Predicate<Run> enough, DemoPrinter printer) {
        long start = System.nanoTime();
        Optional<Run> latest = Optional.empty();
        while (System.nanoTime() - start < limit.toNanos()) {
            try {
                Run run = instances.look();
                latest = Optional.of(run);
                if (enough.test(run)) {
                    break;
                }
            } catch (DataAccessException | TransactionException e) {
                printer.databaseIsAway();
            }
            Pause.of(BETWEEN_LOOKS);
        }
        return latest;
    }
}
