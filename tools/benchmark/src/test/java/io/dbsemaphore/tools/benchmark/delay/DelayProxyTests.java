package io.dbsemaphore.tools.benchmark.delay;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** In front of a server that sends back what it receives. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // an interrupt does not end a read
class DelayProxyTests {

    private static final Duration DELAY = Duration.ofMillis(20);

    private ServerSocket server;

    @BeforeEach
    void startServer() throws IOException {
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    private void accept() {
        try {
            while (true) {
                Socket client = server.accept();
                start(() -> echo(client));
            }
        } catch (IOException closed) {
            // the test is over
        }
    }

    private static void echo(Socket client) {
        try (client) {
            client.setTcpNoDelay(true);
            client.getInputStream().transferTo(client.getOutputStream());
            client.shutdownOutput();
        } catch (IOException closed) {
            // the test is over
        }
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.start();
    }

    @AfterEach
    void stopServer() throws IOException {
        server.close();
    }

    @Measured
    @Test
    void delaysEachRoundTrip() throws Exception {
        try (DelayProxy proxy = proxy(DELAY);
                Socket client = connect(proxy)) {
            Duration roundTrip = medianRoundTrip(client, 21);

            assertThat(roundTrip).isGreaterThanOrEqualTo(DELAY);
            Measurement.check(() -> assertThat(roundTrip).isLessThanOrEqualTo(DELAY.plusMillis(10)));
        }
    }

    /** In pairs: other work of the machine mostly delays both of a pair. */
    @Measured
    @Test
    void isMorePreciseThanAMillisecond() throws Exception {
        try (DelayProxy near = proxy(Duration.ZERO);
                DelayProxy far = proxy(Duration.ofNanos(500_000));
                Socket nearClient = connect(near);
                Socket farClient = connect(far)) {
            medianRoundTrip(farClient, 500); // for the JIT compiler
            long[] nanos = new long[20];
            for (int pair = 0; pair < nanos.length; pair++) {
                Duration without = medianRoundTrip(nearClient, 25);
                nanos[pair] = medianRoundTrip(farClient, 25).minus(without).toNanos();
            }
            Duration difference = median(nanos);

            Measurement.check(
                    () -> assertThat(difference).isBetween(Duration.ofNanos(400_000), Duration.ofNanos(1_400_000)));
        }
    }

    /** 100 bursts, each a millisecond after the one before: one after the other they would take 100 delays. */
    @Measured
    @Test
    void letsBurstsTravelTogether() throws Exception {
        try (DelayProxy proxy = proxy(Duration.ofMillis(200));
                Socket client = connect(proxy)) {
            long begin = System.nanoTime();
            for (int burst = 0; burst < 100; burst++) {
                client.getOutputStream().write(burst);
                Thread.sleep(1);
            }
            byte[] answer = client.getInputStream().readNBytes(100);
            Duration took = Duration.ofNanos(System.nanoTime() - begin);

            assertThat(IntStream.range(0, 100))
                    .allSatisfy(i -> assertThat(answer[i]).isEqualTo(i.byteValue()));
            assertThat(took).isGreaterThanOrEqualTo(Duration.ofMillis(300));
            Measurement.check(() -> assertThat(took).isLessThanOrEqualTo(Duration.ofSeconds(5)));
        }
    }

    @Test
    void passesOnEachByteInOrderUpToTheEnd() throws Exception {
        byte[] sent = new byte[20_000_000];
        new Random(1).nextBytes(sent);
        try (DelayProxy proxy = proxy(DELAY);
                Socket client = connect(proxy)) {
            CompletableFuture<byte[]> received = CompletableFuture.supplyAsync(() -> readAll(client));
            client.getOutputStream().write(sent);
            client.shutdownOutput();

            assertThat(received.get()).isEqualTo(sent);
        }
    }

    @Test
    void countsHowOftenAClientSendsAfterAnAnswer() throws Exception {
        try (DelayProxy proxy = proxy(DELAY);
                Socket client = connect(proxy);
                Socket other = connect(proxy)) {
            medianRoundTrip(client, 4);
            medianRoundTrip(other, 2);

            assertThat(proxy.trips()).isEqualTo(4 + 2);
        }
    }

    /** The server answers only when it has read all. */
    @Test
    void countsOnceWhatAClientSendsBeforeAnAnswer() throws Exception {
        try (ServerSocket patient = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                DelayProxy proxy = new DelayProxy(address(patient), DELAY);
                Socket client = connect(proxy);
                Socket accepted = patient.accept()) {
            client.getOutputStream().write(1);
            Thread.sleep(5); // a burst of its own
            client.getOutputStream().write(new byte[] {2, 3});
            accepted.getOutputStream().write(accepted.getInputStream().readNBytes(3));

            assertThat(client.getInputStream().readNBytes(3)).containsExactly(1, 2, 3);
            assertThat(proxy.trips()).isEqualTo(1);
        }
    }

    @Test
    void endsWithTheServer() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                DelayProxy proxy = new DelayProxy(address(silent), DELAY);
                Socket client = connect(proxy)) {
            silent.accept().close();

            assertThat(client.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Measured
    @Test
    void runsInAProcessOfItsOwn() throws Exception {
        try (DelayProxyJvm proxy = new DelayProxyJvm(
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        address(server),
                        DELAY);
                Socket client = new Socket(InetAddress.getLoopbackAddress(), proxy.port())) {
            client.setTcpNoDelay(true);
            Duration roundTrip = medianRoundTrip(client, 5);

            assertThat(proxy.trips()).isEqualTo(5);
            assertThat(roundTrip).isGreaterThanOrEqualTo(DELAY);
            Measurement.check(() -> assertThat(roundTrip).isLessThanOrEqualTo(DELAY.plusMillis(20)));
        }
    }

    private DelayProxy proxy(Duration delay) throws IOException {
        return new DelayProxy(address(server), delay);
    }

    private static InetSocketAddress address(ServerSocket socket) {
        return new InetSocketAddress(socket.getInetAddress(), socket.getLocalPort());
    }

    private static Socket connect(DelayProxy proxy) throws IOException {
        Socket client = new Socket(InetAddress.getLoopbackAddress(), proxy.port());
        client.setTcpNoDelay(true);
        return client;
    }

    private static Duration medianRoundTrip(Socket client, int count) throws IOException {
        InputStream in = client.getInputStream();
        long[] nanos = new long[count];
        for (int i = 0; i < count; i++) {
            long begin = System.nanoTime();
            client.getOutputStream().write(i);
            assertThat(in.read()).isEqualTo(i & 0xFF);
            nanos[i] = System.nanoTime() - begin;
        }
        return median(nanos);
    }

    private static Duration median(long[] nanos) {
        return Duration.ofNanos(LongStream.of(nanos).sorted().toArray()[nanos.length / 2]);
    }

    private static byte[] readAll(Socket socket) {
        try {
            return socket.getInputStream().readAllBytes();
        } catch (IOException broken) {
            throw new IllegalStateException(broken);
        }
    }
}
