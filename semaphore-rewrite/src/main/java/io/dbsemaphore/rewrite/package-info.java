/**
 * Recipes of OpenRewrite that migrate applications to this library. Where something has no counterpart, they leave the code as it is, and add
 * a comment that says which edit is left to do by hand.
 *
 * <p>Public API: the names and options of the recipes. Depends on {@code io.dbsemaphore} and {@code io.dbsemaphore.annotation}, whose types
 * the written code uses.
 */
@NullMarked
package io.dbsemaphore.rewrite;

import org.jspecify.annotations.NullMarked;
