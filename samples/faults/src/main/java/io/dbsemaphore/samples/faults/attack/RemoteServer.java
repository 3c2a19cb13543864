package io.dbsemaphore.samples.faults.attack;

/** A server that somebody else runs: it is not killed. */
public final class RemoteServer extends DatabaseServer {

    private final String url;

    public RemoteServer(String url, String user, String password) {
        super(user, password);
        this.url = url;
    }

    @Override
    public String url() {
        return url;
    }
}
