package io.dbsemaphore.samples.recipes.llm;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.testing.PeakCounter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.springframework.boot.json.JsonParserFactory;

/** A provider of a language model. It answers 429 where more calls, or more tokens, are under way than it allows. */
final class Provider implements AutoCloseable {

    private static final int CALLS = 4;
    private static final int TOKENS = 2000;
    private static final int CHARACTERS_OF_A_TOKEN = 4;

    private final PeakCounter calls = new PeakCounter();
    private final PeakCounter tokens = new PeakCounter();
    private final AtomicInteger received = new AtomicInteger();
    private final AtomicInteger tooMany = new AtomicInteger();
    private final AtomicReference<CountedWork> work = new AtomicReference<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpServer server;

    Provider() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::complete);
        server.setExecutor(threads);
        server.start();
    }

    String url() {
        return "http://localhost:" + server.getAddress().getPort() + "/v1/completions";
    }

    /** Lets calls take as long as work of the kind with which their prompts begin. */
    void worksAs(CountedWork work) {
        this.work.set(work);
    }

    /** The most calls that it ever worked on at once. */
    int peakOfCalls() {
        return calls.peak();
    }

    /** The most tokens that these ever had at once. */
    int peakOfTokens() {
        return tokens.peak();
    }

    /** How many calls it has received. */
    int received() {
        return received.get();
    }

    /** How many of them it has answered with 429. */
    int tooMany() {
        return tooMany.get();
    }

    private void complete(HttpExchange exchange) throws IOException {
        received.incrementAndGet();
        var request = JsonParserFactory.getJsonParser()
                .parseMap(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
        String prompt = request.get("prompt").toString();
        int ofCall = prompt.length() / CHARACTERS_OF_A_TOKEN + ((Number) request.get("max_tokens")).intValue();
        boolean tooManyCalls = calls.enter(1) > CALLS;
        boolean tooManyTokens = tokens.enter(ofCall) > TOKENS;
        if (tooManyCalls || tooManyTokens) {
            tooMany.incrementAndGet();
            leave(ofCall);
            exchange.sendResponseHeaders(429, -1);
        } else {
            work.get().run("provider", prompt.strip());
            leave(ofCall); // before the caller can know that the call has ended
            byte[] answer = "done".getBytes(StandardCharsets.US_ASCII);
            exchange.getResponseHeaders().add("Content-Type", "text/plain");
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
        }
        exchange.close();
    }

    private void leave(int ofCall) {
        calls.leave();
        tokens.leave(ofCall);
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
