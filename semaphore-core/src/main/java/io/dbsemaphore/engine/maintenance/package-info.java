/**
 * The maintenance: releases what dead holders left, deletes old rows, and the schedule for that.
 *
 * <p>Internal. Depends on {@code engine.support}, on persistence and on the domain.
 */
@NullMarked
package io.dbsemaphore.engine.maintenance;

import org.jspecify.annotations.NullMarked;
