package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.annotation.WithPermits;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Proxy;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.annotation.Bean;

/** Several annotations that apply to one method. */
class SeveralAnnotationsTests {

    @ParameterizedTest
    @ValueSource(classes = {TwoComposed.class, ComposedAndPlain.class, TwoOnType.class, OfTwoInterfaces.class})
    void refusesToStartWhereOneWouldBeDropped(Class<?> bean) {
        assertThatExceptionOfType(BeanCreationException.class)
                .isThrownBy(() -> GuardedContext.of(bean).close())
                .havingRootCause()
                .isInstanceOf(UnguardableMethodException.class)
                .withMessageContaining("@WithPermits on ")
                .withMessageContaining("another @WithPermits applies to it, and only one would be enforced");
    }

    @Test
    void replacesThoseOfOverriddenMethods() {
        try (GuardedContext context = GuardedContext.of(Replacing.class, OfRefinedInterface.class)) {
            assertThat(context.bean(Replacing.class).run()).containsExactly("replacing");
            assertThat(context.bean(OfRefinedInterface.class).run()).containsExactly("refined");
        }
    }

    @Test
    void acquiresOnceWhereTwoInterfacesHaveTheSame() {
        try (GuardedContext context = GuardedContext.of(OfEqualInterfaces.class)) {
            assertThat(context.bean(OfEqualInterfaces.class).run()).containsExactly("backup");
            assertThat(context.permits.requests).hasSize(1);
        }
    }

    @Test
    void appliesThoseOfTheInterfacesOfAProxyToTheirOwnMethods() {
        try (GuardedContext context = GuardedContext.of(ProxyOfTwoInterfaces.class)) {
            assertThat(context.bean(Backups.class).backUp()).containsExactly("backup");
            assertThat(context.bean(Networks.class).connect()).containsExactly("network");
        }
    }

    @WithPermits("backup")
    @Retention(RetentionPolicy.RUNTIME)
    @interface LimitedByBackup {}

    @WithPermits("network")
    @Retention(RetentionPolicy.RUNTIME)
    @interface LimitedByNetwork {}

    static class TwoComposed {

        @LimitedByBackup
        @LimitedByNetwork
        void run() {}
    }

    static class ComposedAndPlain {

        @WithPermits("backup")
        @LimitedByNetwork
        void run() {}
    }

    @LimitedByBackup
    @LimitedByNetwork
    static class TwoOnType {

        void run() {}
    }

    interface ByBackup {

        @WithPermits("backup")
        Set<String> run();
    }

    interface AlsoByBackup {

        @WithPermits("backup")
        Set<String> run();
    }

    interface ByNetwork {

        @WithPermits("network")
        Set<String> run();
    }

    interface Refined extends ByBackup {

        @Override
        @WithPermits("refined")
        Set<String> run();
    }

    abstract static class Job {

        @LimitedByNetwork
        abstract Set<String> run();
    }

    static class OfTwoInterfaces implements ByBackup, ByNetwork {

        @Override
        public Set<String> run() {
            return TypeLevelTests.held();
        }
    }

    static class OfEqualInterfaces implements ByBackup, AlsoByBackup {

        @Override
        public Set<String> run() {
            return TypeLevelTests.held();
        }
    }

    static class OfRefinedInterface implements Refined {

        @Override
        public Set<String> run() {
            return TypeLevelTests.held();
        }
    }

    static class Replacing extends Job implements ByBackup {

        @Override
        @WithPermits("replacing")
        public Set<String> run() {
            return TypeLevelTests.held();
        }
    }

    @WithPermits("backup")
    interface Backups {

        Set<String> backUp();
    }

    @WithPermits("network")
    interface Networks {

        Set<String> connect();
    }

    static class ProxyOfTwoInterfaces {

        @Bean
        Backups both() {
            return (Backups) Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {Backups.class, Networks.class},
                    (proxy, method, arguments) -> method.getReturnType() == Set.class
                            ? TypeLevelTests.held()
                            : method.invoke(this, arguments));
        }
    }
}
