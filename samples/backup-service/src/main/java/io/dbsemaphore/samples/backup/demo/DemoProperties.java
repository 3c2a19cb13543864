package io.dbsemaphore.samples.backup.demo;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How large the demo is.
 *
 * @param backups how many backups each instance has waiting or running at once
 * @param replications how many replications each instance has waiting or running with them
 * @param duration how long an instance starts another job for each that has ended
 * @param instances how many instances to wait for before the jobs are started
 * @param joinTimeout how long to wait for them
 * @param instanceTimeout after how long without a heartbeat an instance counts as dead
 * @param timeLimit how long after that to give up
 * @param breakLimit runs the backups without permits, to show that the demo notices
 */
@ConfigurationProperties("demo")
public record DemoProperties(
        @DefaultValue("8") int backups,
        @DefaultValue("3") int replications,
        @DefaultValue("1m") Duration duration,
        @DefaultValue("1") int instances,
        @DefaultValue("60s") Duration joinTimeout,
        @DefaultValue("10s") Duration instanceTimeout,
        @DefaultValue("5m") Duration timeLimit,
        @DefaultValue("false") boolean breakLimit) {}
