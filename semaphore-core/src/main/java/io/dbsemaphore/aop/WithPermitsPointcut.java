package io.dbsemaphore.aop;

import java.lang.reflect.Method;
import org.springframework.aop.support.StaticMethodMatcherPointcut;

/**
 * Matches the methods that have a guard. The class filter checks all annotations of a class before it is proxied:
 * Spring stops asking for methods at the first match.
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
