package com.example.visits;

import com.example.clinic.StartReport;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A small web application without JPA. Its {@code main} starts it, prints what that took, and ends. */
@SpringBootApplication
public class VisitsApplication {

    /** Starts the application, and prints a {@link StartReport}. */
    public static void main(String[] args) {
        StartReport.print(SpringApplication.run(VisitsApplication.class, args));
    }

    @RestController
    static class VisitController {

        private final JdbcClient jdbc;

        VisitController(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @GetMapping("/visits")
        long visits() {
            return jdbc.sql("select count(*) from visit").query(Long.class).single();
        }
    }
}
