package io.dbsemaphore.samples.backup;

/**
 * What is to be copied.
 *
 * @param jobId the job that copies it
 * @param name what people call it
 */
public record Snapshot(String jobId, String name) {}
