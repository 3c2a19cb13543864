package com.example.clinic;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.LocalDate;
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
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

    /** Starts the application, and prints {@code started in … ms, … ms CPU}, then {@code live heap … kB}. */
    public static void main(String[] args) {
        ConfigurableApplicationContext context = SpringApplication.run(ClinicApplication.class, args);
        long millis = System.currentTimeMillis()
                - ManagementFactory.getRuntimeMXBean().getStartTime();
        long cpu =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime() / 1_000_000;
        System.out.printf("started in %d ms, %d ms CPU%n", millis, cpu);
        System.gc();
        System.gc();
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1024;
        System.out.printf("live heap %d kB%n", heap);
        if (Boolean.getBoolean("clinic.stay")) {
            context.registerShutdownHook();
        } else {
            Runtime.getRuntime().halt(0);
        }
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
