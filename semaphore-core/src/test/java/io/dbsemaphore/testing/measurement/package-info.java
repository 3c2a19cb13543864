/** Tests that measure durations, rates and shares on a machine on which other processes run, too. */
@org.jspecify.annotations.NullMarked
package io.dbsemaphore.testing.measurement;
