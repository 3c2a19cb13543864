package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.spi.StartFailure;
import java.util.function.Supplier;

/** Thrown at start if the configuration of the semaphores is invalid. */
final class SemaphoreConfigurationException extends IllegalStateException implements StartFailure {

    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String action;

    /**
     * @param problem the problem, as a sentence
     * @param action the solution, as a sentence
     */
    SemaphoreConfigurationException(String problem, String action) {
        super(problem + " " + action);
        this.problem = problem;
        this.action = action;
    }

    /** Calls the supplier, and explains an invalid value. */
    static <T> T explaining(Supplier<T> configured) {
        try {
            return configured.get();
        } catch (IllegalArgumentException invalid) {
            throw new SemaphoreConfigurationException(
                    invalid.getMessage() + ".", "Correct the property, or remove it so that its default applies.");
        }
    }

    @Override
    public String description() {
        return problem;
    }

    @Override
    public String action() {
        return action;
    }
}
