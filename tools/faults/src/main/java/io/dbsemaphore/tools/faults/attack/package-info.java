/** Attacks on the server, the network and the client processes, by a schedule that a seed determines. */
@NullMarked
package io.dbsemaphore.tools.faults.attack;

import org.jspecify.annotations.NullMarked;
