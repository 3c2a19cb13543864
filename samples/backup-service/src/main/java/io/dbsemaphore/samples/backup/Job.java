package io.dbsemaphore.samples.backup;

import java.time.LocalDateTime;
import org.jspecify.annotations.Nullable;

/**
 * An entry of the job log. All times are the database's clock, so that they can be compared across instances.
 *
 * @param id its id
 * @param kind what it does
 * @param snapshot the name of the snapshot
 * @param instance the instance that runs it
 * @param state its state
 * @param requestedAt when it was requested
 * @param startedAt when it had its permits and began to work
 * @param endedAt when its work ended, just before it released its permits; or when it was refused
 */
public record Job(
        String id,
        JobKind kind,
        String snapshot,
        String instance,
        JobState state,
        LocalDateTime requestedAt,
        @Nullable LocalDateTime startedAt,
        @Nullable LocalDateTime endedAt) {}
