/** Which failed tests run again, and when. */
@org.jspecify.annotations.NullMarked
package io.dbsemaphore.testing.rerun;
