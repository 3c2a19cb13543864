package io.dbsemaphore.tools.benchmark.delay;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The URL of one server: of a database by JDBC, or of a Redis. */
public final class ServerUrl {

    private static final Map<String, Integer> PORTS =
            Map.of("mysql", 3306, "mariadb", 3306, "postgresql", 5432, "redis", 6379);

    private static final Pattern URL =
            Pattern.compile("((?:jdbc:)?(\\w+)://(?:[^@/]*@)?)([^/:?@,()\\[\\]]+)(?::(\\d+))?([/?].*)?");

    private final Matcher parts;

    /** @throws IllegalArgumentException if it names several servers, or none */
    public ServerUrl(String url) {
        parts = URL.matcher(url);
        if (!parts.matches() || !PORTS.containsKey(parts.group(2))) {
            throw new IllegalArgumentException(
                    "--delay= needs a URL with one host, such as jdbc:mysql://host:3306/database, not "
                            + url.replaceFirst("[?@].*", ""));
        }
    }

    /** The address of the server. */
    public InetSocketAddress address() {
        Integer usual = Objects.requireNonNull(PORTS.get(parts.group(2)));
        return InetSocketAddress.createUnresolved(
                parts.group(3), parts.group(4) == null ? usual : Integer.valueOf(parts.group(4)));
    }

    /** The same, through a proxy at this port of this machine. */
    public String through(int port) {
        return parts.group(1) + "localhost:" + port + Objects.requireNonNullElse(parts.group(5), "");
    }
}
