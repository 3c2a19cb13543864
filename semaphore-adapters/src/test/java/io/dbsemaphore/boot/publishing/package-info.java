/** What is published: POMs and the files beside them. */
@NullMarked
package io.dbsemaphore.boot.publishing;

import org.jspecify.annotations.NullMarked;
