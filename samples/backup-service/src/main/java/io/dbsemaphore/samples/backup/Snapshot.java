package io.dbsemaphore.samples.backup;

/**
 * The data that a job copies.
 *
 * @param jobId the job that copies it
 * @param name its name
 */
public record Snapshot(String jobId, String name) {}
