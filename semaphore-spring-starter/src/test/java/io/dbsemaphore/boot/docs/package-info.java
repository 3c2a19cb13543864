/**
 * The documents of the repository, compared with the code: tables, examples, guarantees and packages. Each test says
 * what to change, the document or the code.
 */
@NullMarked
package io.dbsemaphore.boot.docs;

import org.jspecify.annotations.NullMarked;
