package io.dbsemaphore.samples.backup.demo;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;

/** What a run has shown. */
enum Verdict {

    /** Never more jobs at the same time than allowed, and those of this instance are done. */
    LIMITS_HELD(0, "the limits held, over all instances"),

    /** More jobs ran at the same time than allowed. */
    LIMITS_BROKEN(1, "THE LIMITS WERE BROKEN"),

    /** No limit was broken, but the jobs of this instance are not all done. */
    INCOMPLETE(2, "no limit was seen broken, but not all jobs of this process are done");

    private final int exitCode;
    private final String text;

    Verdict(int exitCode, String text) {
        this.exitCode = exitCode;
        this.text = text;
    }

    static Verdict of(Run run, Limits limits, boolean ownJobsDone) {
        Timeline timeline = new Timeline(run);
        if (timeline.peakOfBackups() > limits.backups() || timeline.peakOfTransfers() > limits.transfers()) {
            return LIMITS_BROKEN;
        }
        return ownJobsDone ? LIMITS_HELD : INCOMPLETE;
    }

    int exitCode() {
        return exitCode;
    }

    String text() {
        return text;
    }

    /** The capacities of the two semaphores. */
    record Limits(int backups, int transfers) {

        static Limits of(SemaphoreAdmin admin) {
            return new Limits(capacity(admin, "backup"), capacity(admin, "network"));
        }

        private static int capacity(SemaphoreAdmin admin, String name) {
            return admin.find(name).map(SemaphoreStatus::capacity).orElseThrow();
        }
    }
}
