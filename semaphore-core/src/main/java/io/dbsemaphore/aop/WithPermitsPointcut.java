package io.dbsemaphore.aop;

import java.lang.reflect.Method;
import org.springframework.aop.support.StaticMethodMatcherPointcut;

/**
 * Matches the methods that have a guard. A class is asked about as a whole, so that all of its annotations have been
 * checked when it is proxied: about methods, Spring stops asking at the first that matches.
 */
final class WithPermitsPointcut extends StaticMethodMatcherPointcut {

    private final GuardRegistry guards;

    WithPermitsPointcut(GuardRegistry guards) {
        this.guards = guards;
        setClassFilter(guards::hasGuards);
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return guards.find(method, targetClass).isPresent();
    }
}
