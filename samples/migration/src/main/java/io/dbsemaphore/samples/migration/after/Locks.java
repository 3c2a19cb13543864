package io.dbsemaphore.samples.migration.after;

import org.springframework.context.annotation.Configuration;

/** The locks that the instances share. */
@Configuration
public class Locks {}
