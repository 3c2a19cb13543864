package io.dbsemaphore.testing;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;

/** Slices of an architecture test: each outermost class with its nested classes. */
public final class OutermostClass implements SliceAssignment {

    @Override
    public SliceIdentifier getIdentifierOf(JavaClass type) {
        return SliceIdentifier.of(type.getName().split("\\$", 2)[0]);
    }

    @Override
    public String getDescription() {
        return "each outermost class";
    }
}
