/** A limit for calls to a partner. */
@NullMarked
package io.dbsemaphore.samples.recipes.restclient;

import org.jspecify.annotations.NullMarked;
