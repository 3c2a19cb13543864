package io.dbsemaphore.aop.elsewhere;

import io.dbsemaphore.annotation.WithPermits;

/** A superclass in another package than those of the beans. */
public abstract class PackagePrivateMethod {

    @WithPermits("a")
    void run() {}
}
