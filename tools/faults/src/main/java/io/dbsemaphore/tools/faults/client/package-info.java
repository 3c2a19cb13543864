/** A process under attack: an application that acquires and releases at random, and tells the oracle what it was told. */
@NullMarked
package io.dbsemaphore.tools.faults.client;

import org.jspecify.annotations.NullMarked;
