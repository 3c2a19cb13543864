/** The limits of a provider of language models: calls at the same time, and the tokens in them. */
@NullMarked
package io.dbsemaphore.samples.recipes.llm;

import org.jspecify.annotations.NullMarked;
