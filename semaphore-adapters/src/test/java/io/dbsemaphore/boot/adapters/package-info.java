/**
 * The adapters as a module: its structure, its public API, its properties and its page of the documents. The properties in all documents
 * are compared with the code here, where the class path has those of the starter and of the adapters.
 */
@NullMarked
package io.dbsemaphore.boot.adapters;

import org.jspecify.annotations.NullMarked;
