package io.dbsemaphore.samples.backup.live;

import java.time.Duration;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What the instances do. The numbers of callers are those of each instance.
 *
 * @param instance which instance this is, from 1; the first one starts the others
 * @param instances how many there are, in this process
 * @param backups how many callers back up snapshots, one after the other
 * @param replications how many callers replicate snapshots
 * @param pause the longest pause of a caller between two jobs
 * @param calls other work, by the name of its semaphore
 */
@ConfigurationProperties("live")
public record LiveProperties(
        @DefaultValue("1") int instance,
        @DefaultValue("2") int instances,
        @DefaultValue("3") int backups,
        @DefaultValue("1") int replications,
        @DefaultValue("4s") Duration pause,
        @DefaultValue Map<String, Calls> calls) {

    /**
     * Work that needs one permit of a semaphore.
     *
     * @param callers how many callers do it
     * @param shortest how long it takes at least
     * @param longest how long it takes at most
     */
    public record Calls(int callers, Duration shortest, Duration longest) {}
}
