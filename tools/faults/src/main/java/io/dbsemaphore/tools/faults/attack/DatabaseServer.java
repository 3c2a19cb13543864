package io.dbsemaphore.tools.faults.attack;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The server under attack. */
public abstract class DatabaseServer implements AutoCloseable {

    private static final Pattern URL = Pattern.compile("(jdbc:(\\w+)://)([^:/]+)(?::(\\d+))?(/.*)");

    private final String user;
    private final String password;

    DatabaseServer(String user, String password) {
        this.user = user;
        this.password = password;
    }

    /** The URL of the database as the server is reached now. */
    public abstract String url();

    /** The node that a client uses, by its number. */
    DatabaseServer node(int client) {
        return this;
    }

    /** Whether it can be killed and started. */
    public boolean canBeKilled() {
        return false;
    }

    /** Kills it at once, as {@code kill -9} does. */
    void kill() {
        throw new UnsupportedOperationException(url() + " cannot be killed");
    }

    /** Starts it again, on the same data; it may be reached by another port. */
    void start() throws IOException {
        throw new UnsupportedOperationException(url() + " cannot be started");
    }

    /** Whether its process runs; one that cannot be killed does. */
    boolean isRunning() {
        return true;
    }

    /** Whether its disk can be filled. */
    boolean canFillDisk() {
        return false;
    }

    /** Leaves no free byte on its disk. */
    void fillDisk() {
        throw new UnsupportedOperationException("The disk of " + url() + " cannot be filled");
    }

    /** Frees what was filled. */
    void freeDisk() {
        throw new UnsupportedOperationException("The disk of " + url() + " cannot be freed");
    }

    /** Whether its clock can be stepped. */
    boolean canStepClock() {
        return false;
    }

    /** Soon its clock is so many seconds ahead of the machine's. */
    void stepClock(long seconds) {
        throw new UnsupportedOperationException("The clock of " + url() + " cannot be stepped");
    }

    @Override
    public void close() {}

    public String user() {
        return user;
    }

    public String password() {
        return password;
    }

    public boolean isMySql() {
        return isProduct("mysql");
    }

    public boolean isPostgreSql() {
        return isProduct("postgresql");
    }

    private boolean isProduct(String name) {
        return parts().group(2).equals(name);
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        Matcher parts = parts();
        int port = parts.group(4) != null ? Integer.parseInt(parts.group(4)) : isPostgreSql() ? 5432 : 3306;
        return new InetSocketAddress(parts.group(3), port);
    }

    /** The URL of the same database by way of a proxy of this machine. */
    public String urlBy(int proxyPort) {
        Matcher parts = parts();
        return parts.group(1) + "127.0.0.1:" + proxyPort + parts.group(5);
    }

    /** A connection past all proxies. */
    public Connection connect() throws SQLException {
        return DriverManager.getConnection(url(), user, password);
    }

    private Matcher parts() {
        Matcher parts = URL.matcher(url());
        if (!parts.matches()) {
            throw new IllegalArgumentException(
                    "Not understood: " + url() + "; it takes jdbc:<product>://host:port/database");
        }
        return parts;
    }
}
