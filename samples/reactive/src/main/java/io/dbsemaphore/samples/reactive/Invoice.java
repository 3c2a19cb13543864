package io.dbsemaphore.samples.reactive;

import org.jspecify.annotations.Nullable;
import org.springframework.data.annotation.Id;
import org.springframework.data.relational.core.mapping.Table;

/** Something of the application's own, which it keeps by R2DBC. */
@Table
record Invoice(@Id @Nullable Long id, String customer, int exports) {}
