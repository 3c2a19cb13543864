package io.dbsemaphore.samples.backup;

import io.dbsemaphore.samples.backup.demo.Demo;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.resilience.annotation.EnableResilientMethods;

/** Runs the service; with the profile {@code demo} it runs the demo and exits. */
@SpringBootApplication
@ConfigurationPropertiesScan
@EnableResilientMethods
public class BackupApplication {

    /** Starts an instance. */
    public static void main(String[] args) {
        prepareForSharedH2();
        ConfigurableApplicationContext context = SpringApplication.run(BackupApplication.class, args);
        context.getBeanProvider(Demo.class).ifAvailable(demo -> exit(context, demo.run()));
    }

    /**
     * The instance that opened the H2 file first serves it to the others, on this machine only. When it has ended they
     * reconnect. HikariCP does not recognize the errors that H2 reports for a lost connection, so it validates each
     * connection that it hands out.
     */
    private static void prepareForSharedH2() {
        System.getProperties().putIfAbsent("h2.bindAddress", "127.0.0.1");
        System.getProperties().putIfAbsent("com.zaxxer.hikari.aliveBypassWindowMs", "0");
    }

    private static void exit(ConfigurableApplicationContext context, int exitCode) {
        context.close(); // waits until it is closed, if a signal has begun that; SpringApplication.exit prints that as
        // a failure
        System.exit(exitCode);
    }
}
