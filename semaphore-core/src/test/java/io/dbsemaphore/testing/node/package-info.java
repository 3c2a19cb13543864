/** Application instances under test, and what the database says of what they hold. */
@NullMarked
package io.dbsemaphore.testing.node;

import org.jspecify.annotations.NullMarked;
