package com.example.clinic;

import java.time.LocalDate;
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * A small web application with JPA, about as large as Spring's pet clinic, that knows nothing of semaphores. Its
 * {@code main} starts it, prints what that took, and ends.
 */
@SpringBootApplication
@EnableJpaRepositories(considerNestedRepositories = true)
public class ClinicApplication {

    /** Starts the application, and prints a {@link StartReport}. */
    public static void main(String[] args) {
        StartReport.print(SpringApplication.run(ClinicApplication.class, args));
    }

    @RestController
    static class OwnerController {

        private final Repositories.Owners owners;
        private final Repositories.Pets pets;

        OwnerController(Repositories.Owners owners, Repositories.Pets pets) {
            this.owners = owners;
            this.pets = pets;
        }

        @GetMapping("/owners")
        List<String> owners() {
            return owners.findByNameStartingWithAndSinceAfterOrderByName("", LocalDate.EPOCH).stream()
                    .map(owner -> owner.name)
                    .toList();
        }

        @GetMapping("/pets")
        long pets() {
            return pets.count();
        }
    }
}
