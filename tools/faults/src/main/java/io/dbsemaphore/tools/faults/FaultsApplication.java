package io.dbsemaphore.tools.faults;

import io.dbsemaphore.tools.faults.attack.ContainerServer;
import io.dbsemaphore.tools.faults.attack.DatabaseServer;
import io.dbsemaphore.tools.faults.attack.FakeTime;
import io.dbsemaphore.tools.faults.attack.RemoteServer;
import io.dbsemaphore.tools.faults.report.Report;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the fault suite from the command line. The exit code is 0 if the library kept its promises. */
public final class FaultsApplication {

    private static final Logger log = LoggerFactory.getLogger(FaultsApplication.class);
    private static final int VIOLATED = 1;
    private static final int WRONG_OPTIONS = 2;

    private FaultsApplication() {}

    /** Runs what the arguments ask for; see {@link Options#USAGE}. */
    public static void main(String[] arguments) throws Exception {
        Options options;
        try {
            options = Options.parse(arguments);
        } catch (IllegalArgumentException problem) {
            System.out.println(problem.getMessage() + System.lineSeparator() + Options.USAGE);
            System.exit(WRONG_OPTIONS);
            return;
        }
        int exitCode = VIOLATED;
        try (DatabaseServer server = options.urls().isEmpty()
                ? ContainerServer.run(
                        options.database(), options.disk(), options.stepsServerClock() && FakeTime.isInstalled())
                : new RemoteServer(options.urls(), options.user(), options.password())) {
            Report report = new FaultRun(options, server, System.out, Map.of()).run();
            exitCode = report.isPassed() ? 0 : VIOLATED;
        } catch (Exception failure) {
            log.error("The run could not be completed", failure);
        }
        System.exit(exitCode); // whatever threads libraries have left behind
    }
}
