package io.dbsemaphore.samples.recipes;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives a test the instances that it shares with the tests of other recipes, since each start takes some seconds. They are
 * stopped after the last test.
 */
public final class SharedInstances implements ParameterResolver {

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
        return parameter.getParameter().getType() == Instances.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
        return test.getRoot()
                .getStore(Namespace.create(SharedInstances.class))
                .computeIfAbsent(Instances.class, type -> start(), Instances.class);
    }

    private static Instances start() {
        return Instances.of(
                "async,http,noisyneighbour,perkey,premium,readwrite,tenants",
                "spring.main.web-application-type=servlet",
                "spring.threads.virtual.enabled=false",
                "spring.task.execution.pool.core-size=2");
    }
}
