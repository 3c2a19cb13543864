package io.dbsemaphore.samples.backup;

/** The state of a job. */
public enum JobState {

    /** It waits for permits. */
    WAITING,

    /** It has its permits, and works. */
    RUNNING,

    /** It has done its work. */
    DONE,

    /** Its permits did not become free in time. */
    REFUSED,

    /** It ended with an exception. */
    FAILED;

    /** Whether the job has ended. */
    public boolean isFinal() {
        return this != WAITING && this != RUNNING;
    }
}
