package io.dbsemaphore.tools.faults.attack;

import java.util.List;

/** A server, or the nodes of a cluster, that somebody else runs: it is not killed. */
public final class RemoteServer extends DatabaseServer {

    private final List<String> urls;

    /** @param urls of the nodes, of which the first is the one whose log is read */
    public RemoteServer(List<String> urls, String user, String password) {
        super(user, password);
        this.urls = List.copyOf(urls);
    }

    @Override
    public String url() {
        return urls.get(0);
    }

    @Override
    DatabaseServer node(int client) {
        return new RemoteServer(List.of(urls.get(client % urls.size())), user(), password());
    }
}
