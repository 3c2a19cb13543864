package com.example.tasks;

import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

@Component
public class Tasks {

    private final ApplicationEventPublisher events;

    public Tasks(ApplicationEventPublisher events) {
        this.events = events;
    }

    @Scheduled(cron = "0 */15 * * * *")
    @SchedulerLock(name = "scheduledTaskName")
    public void scheduledTask() {
        LockAssert.assertLocked();
        events.publishEvent("work");
    }
}
