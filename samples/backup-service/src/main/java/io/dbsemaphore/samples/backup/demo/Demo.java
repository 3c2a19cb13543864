package io.dbsemaphore.samples.backup.demo;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.samples.backup.Pause;
import io.dbsemaphore.samples.backup.demo.Verdict.Limits;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Profile;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/** Starts jobs, watches those of all instances until the last has ended, and says whether the limits held. */
@Component
@Profile("demo")
public class Demo {

    private static final Duration POLL_INTERVAL = Duration.ofMillis(250);

    private final DemoProperties properties;
    private final DemoInstances instances;
    private final DemoJobs jobs;
    private final SemaphoreAdmin admin;
    private final ConfigurableApplicationContext context;

    Demo(
            DemoProperties properties,
            DemoInstances instances,
            DemoJobs jobs,
            SemaphoreAdmin admin,
            ConfigurableApplicationContext context) {
        this.properties = properties;
        this.instances = instances;
        this.jobs = jobs;
        this.admin = admin;
        this.context = context;
    }

    /** Runs the demo; returns the exit code of its {@link Verdict}. It ends early if the process is asked to end. */
    public int run() {
        try {
            return show();
        } catch (DataAccessException | TransactionException e) {
            if (context.isClosed()) { // and the pool, too
                return Verdict.INCOMPLETE.exitCode();
            }
            throw e;
        }
    }

    private int show() {
        Limits limits = Limits.of(admin);
        DemoPrinter printer = new DemoPrinter(System.out, limits);
        printer.introduction(properties);
        instances.join();
        watch(properties.joinTimeout(), run -> run.participants().size() >= properties.instances(), printer);
        jobs.start();
        printer.heading();
        Optional<Run> end =
                watch(properties.duration().plus(properties.timeLimit()), run -> follow(run, printer), printer);
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
        printer.printNew(run);
        return run.isOver();
    }

    /** Polls until the condition holds, the time is up, or the process is asked to end; returns the last state. */
    private Optional<Run> watch(Duration limit, Predicate<Run> condition, DemoPrinter printer) {
        long start = System.nanoTime();
        Optional<Run> latest = Optional.empty();
        while (!context.isClosed() && System.nanoTime() - start < limit.toNanos()) {
            try {
                Run run = instances.observe();
                latest = Optional.of(run);
                if (condition.test(run)) {
                    break;
                }
            } catch (DataAccessException | TransactionException e) {
                if (!context.isClosed()) { // otherwise the pool is closed, too
                    printer.databaseUnreachable();
                }
            }
            Pause.of(POLL_INTERVAL);
        }
        return latest;
    }
}
