/**
 * Recipes of OpenRewrite that migrate applications to this library. Where something has no counterpart, they leave the code as it is, and
 * add a comment that says what to edit by hand.
 *
 * <p>Public API: the names and options of the recipes. Depends on {@code io.dbsemaphore} and {@code io.dbsemaphore.annotation}, whose types
 * the generated code uses.
 */
@NullMarked
package io.dbsemaphore.rewrite;

import org.jspecify.annotations.NullMarked;
