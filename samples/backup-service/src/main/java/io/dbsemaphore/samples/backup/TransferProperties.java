package io.dbsemaphore.samples.backup;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The size of the simulated snapshots.
 *
 * @param block how long it takes to copy one block
 * @param minBlocks the blocks of the smallest snapshot
 * @param maxBlocks the blocks of the largest snapshot
 */
@ConfigurationProperties("transfer")
public record TransferProperties(
        @DefaultValue("250ms") Duration block,
        @DefaultValue("40") int minBlocks,
        @DefaultValue("80") int maxBlocks) {}
