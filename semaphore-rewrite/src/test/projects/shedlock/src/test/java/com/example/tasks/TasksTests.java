package com.example.tasks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;

/** Passes before the migration and after it. */
@SpringBootTest
class TasksTests {

    private final List<String> done = new ArrayList<>();

    @Test
    void aTaskIsSkippedWhileItRuns(@Autowired Tasks tasks, @Autowired Work work) {
        work.during = () -> {
            done.add("work");
            if (done.size() == 1) {
                CompletableFuture.runAsync(tasks::scheduledTask).join();
            }
        };

        tasks.scheduledTask();

        assertThat(done).containsExactly("work");
    }

    static class Work {

        Runnable during = () -> {};

        @EventListener
        void on(String event) {
            during.run();
        }
    }

    @TestConfiguration
    static class Configuration {

        @Bean
        Work work() {
            return new Work();
        }
    }
}
