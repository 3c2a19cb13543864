package com.example.quotes;

import io.dbsemaphore.annotation.WithPermits;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@RestController
public class QuotesApplication {

    private final Duration duration;

    QuotesApplication(@Value("${quotes.duration:10s}") Duration duration) {
        this.duration = duration;
    }

    public static void main(String[] args) {
        SpringApplication.run(QuotesApplication.class, args);
    }

    /** At most 2 calls at the same time, and 1 for each tenant, over all instances. */
    @GetMapping("/quotes/{tenant}")
    @WithPermits(names = {"partner", "tenant:#{#tenant}"}, waitTime = "${quotes.wait-time:5s}")
    public String quote(@PathVariable String tenant) throws InterruptedException {
        Thread.sleep(duration.toMillis()); // stands for the call to the partner
        return "A quote for " + tenant + "\n";
    }
}
