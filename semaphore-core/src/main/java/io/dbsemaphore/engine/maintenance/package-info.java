/**
 * The maintenance and its schedule: releases the permits of dead holders, and deletes old rows.
 *
 * <p>Internal. Depends on {@code engine.support}, on persistence, {@code config}, {@code concurrent} and the domain.
 */
@NullMarked
package io.dbsemaphore.engine.maintenance;

import org.jspecify.annotations.NullMarked;
