/** A network that is slower than that of this machine: a TCP proxy in a process of its own, which delays what it passes on. */
@NullMarked
package io.dbsemaphore.tools.benchmark.delay;

import org.jspecify.annotations.NullMarked;
