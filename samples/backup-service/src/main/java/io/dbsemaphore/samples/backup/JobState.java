package io.dbsemaphore.samples.backup;

/** How far a job is. */
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

    /** Whether nothing will happen to the job any more. */
    public boolean isFinal() {
        return this != WAITING && this != RUNNING;
    }
}
