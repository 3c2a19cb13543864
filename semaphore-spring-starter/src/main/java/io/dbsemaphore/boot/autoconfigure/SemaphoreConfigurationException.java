package io.dbsemaphore.boot.autoconfigure;

/** The configuration of the application does not say how its semaphores are to work. */
final class SemaphoreConfigurationException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String action;

    /**
     * Creates an exception.
     *
     * @param problem what is wrong, in a sentence
     * @param action what to do about it, in a sentence
     */
    SemaphoreConfigurationException(String problem, String action) {
        super(problem + " " + action);
        this.problem = problem;
        this.action = action;
    }

    String problem() {
        return problem;
    }

    String action() {
        return action;
    }
}
