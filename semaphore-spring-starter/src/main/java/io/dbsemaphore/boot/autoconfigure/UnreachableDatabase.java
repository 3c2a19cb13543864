package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.jdbc.SqlErrors;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains why a database could not be reached at start, and what to check. */
final class UnreachableDatabase {

    private static final String OTHER_DATABASE = """


            If the semaphores are in a database other than that of the primary DataSource, set semaphore.datasource to the \
            name of its DataSource bean.""";

    private static final String DISABLE = " To start without semaphores: semaphore.enabled=false";

    private UnreachableDatabase() {}

    /**
     * @param database which database, to begin a sentence
     * @param url the URL to show; null if it is unknown
     * @param hasOwnPool whether it is that of semaphore.datasource.url
     */
    static FailureAnalysis explain(String database, @Nullable String url, boolean hasOwnPool, Throwable failure) {
        return new FailureAnalysis(
                "%s%s cannot be reached: %s"
                        .formatted(database, url == null ? "" : ", " + url + ",", whatHappened(failure)),
                hasOwnPool
                        ? whatToCheck(failure).replace("spring.datasource", "semaphore.datasource") + DISABLE
                        : whatToCheck(failure) + OTHER_DATABASE + DISABLE,
                failure);
    }

    /** The error of the driver, and that of the network if there is one: drivers tell only one of them. */
    private static String whatHappened(Throwable failure) {
        String error =
                SqlErrors.root(failure).map(UnreachableDatabase::firstLine).orElse("");
        String network = network(failure)
                .map(cause -> cause.getClass().getSimpleName() + ": " + cause.getMessage())
                .orElse("");
        return network.isEmpty() ? error : error.isEmpty() ? network : "%s (%s)".formatted(error, network);
    }

    private static String whatToCheck(Throwable failure) {
        Throwable network = network(failure).orElse(null);
        if (network instanceof UnknownHostException) {
            return "No host of that name is known. Correct the name in spring.datasource.url.";
        }
        if (network instanceof SocketTimeoutException) {
            return "The server does not answer. Check the host and the port in spring.datasource.url, and the firewalls on the"
                    + " way to it.";
        }
        if (network instanceof ConnectException) {
            return "Nothing listens at that host and port. Start the database, or correct spring.datasource.url.";
        }
        Optional<SQLException> error = SqlErrors.root(failure);
        if (error.map(SQLException::getSQLState)
                .filter(state -> state.startsWith("28"))
                .isPresent()) {
            return "The database rejects the user or the password. Correct spring.datasource.username and"
                    + " spring.datasource.password.";
        }
        if (error.filter(refused -> refused.getErrorCode() == 1049 || "3D000".equals(refused.getSQLState()))
                .isPresent()) {
            return "The server has no database of that name. Create it, or correct spring.datasource.url.";
        }
        return "Check that the database runs, and correct spring.datasource.url, spring.datasource.username and"
                + " spring.datasource.password.";
    }

    private static Optional<Throwable> network(Throwable failure) {
        return Stream.iterate(failure, cause -> cause != null, Throwable::getCause)
                .limit(50)
                .filter(cause -> cause instanceof ConnectException
                        || cause instanceof SocketTimeoutException
                        || cause instanceof UnknownHostException)
                .findFirst();
    }

    /** Connector/J adds when it received the last packet. */
    private static String firstLine(SQLException error) {
        return String.valueOf(error.getMessage()).lines().findFirst().orElse("").strip();
    }
}
