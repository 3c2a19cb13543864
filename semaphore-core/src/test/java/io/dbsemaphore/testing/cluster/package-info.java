/** Servers that replicate to one another, and proxies before them, which the tests of failovers start. */
@org.jspecify.annotations.NullMarked
package io.dbsemaphore.testing.cluster;
