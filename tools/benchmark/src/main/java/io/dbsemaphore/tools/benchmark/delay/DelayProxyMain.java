package io.dbsemaphore.tools.benchmark.delay;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The main class of a {@link DelayProxyJvm}. */
final class DelayProxyMain {

    private DelayProxyMain() {}

    /** Prints its port; then the number of trips for each line of standard input, until that ends. */
    public static void main(String[] arguments) throws IOException {
        InetSocketAddress server = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
        try (DelayProxy proxy = new DelayProxy(server, Duration.parse(arguments[2]));
                BufferedReader questions =
                        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            System.out.println(proxy.port());
            while (questions.readLine() != null) {
                System.out.println(proxy.trips());
            }
        }
    }
}
