package io.dbsemaphore.samples.backup.live;

import io.dbsemaphore.samples.backup.BackupApplication;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Profile;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/** Starts the other instances in the process of the first one, and says where to look. */
@Component
@Profile("live")
class LiveInstances {

    private final LiveProperties properties;
    private final Environment environment;
    private final List<ConfigurableApplicationContext> others = new CopyOnWriteArrayList<>();

    LiveInstances(LiveProperties properties, Environment environment) {
        this.properties = properties;
        this.environment = environment;
    }

    @EventListener
    void start(ApplicationReadyEvent event) {
        if (properties.instance() > 1) {
            return;
        }
        for (int number = 2; number <= properties.instances(); number++) {
            others.add(start(number, event.getArgs()));
        }
        System.out.printf(
                "%d instances are at work. Watch them at http://localhost:%s/actuator/semaphores%nCtrl-C ends them.%n",
                properties.instances(), environment.getProperty("local.server.port"));
    }

    private ConfigurableApplicationContext start(int number, String... arguments) {
        return new SpringApplicationBuilder(BackupApplication.class)
                .profiles(environment.getActiveProfiles())
                .run(Stream.concat(
                                Stream.of(arguments),
                                Stream.of("--live.instance=" + number, "--spring.main.web-application-type=none"))
                        .toArray(String[]::new));
    }

    @EventListener(ContextClosedEvent.class)
    void stop() {
        others.forEach(ConfigurableApplicationContext::close);
    }
}
