package io.dbsemaphore.samples.backup.demo;

import java.time.LocalDateTime;
import org.jspecify.annotations.Nullable;

/**
 * An instance that takes part in the run.
 *
 * @param id its id
 * @param joinedAt when it came
 * @param seenAt when it last gave a sign of life
 * @param finishedAt when its own jobs had ended
 */
record Participant(
        String id,
        LocalDateTime joinedAt,
        LocalDateTime seenAt,
        @Nullable LocalDateTime finishedAt) {}
