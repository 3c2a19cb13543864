package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.Permits;
import io.dbsemaphore.annotation.WithPermits;
import jakarta.annotation.PostConstruct;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;

class TypeLevelTests {

    /** Spring calls it on the object; the same method is guarded when it is called through the proxy. */
    @Test
    void doesNotRefuseAnInitMethod() {
        try (GuardedContext context = GuardedContext.of(Initialized.class)) {
            assertThat(context.bean(Initialized.class).heldByCall()).containsExactly(Set.of(), Set.of("backup"));
        }
    }

    @WithPermits("backup")
    static class Initialized {

        private final List<Set<String>> heldByCall = new ArrayList<>();

        @PostConstruct
        List<Set<String>> heldByCall() {
            heldByCall.add(held());
            return heldByCall;
        }
    }

    @Test
    void guardsTheMethodsOfTheClass() {
        try (GuardedContext context = GuardedContext.of(Backup.class)) {
            assertThat(context.bean(Backup.class).publicMethod()).containsExactly("backup");
            assertThat(context.bean(Backup.class).packagePrivateMethod()).containsExactly("backup");
        }
    }

    @Test
    void letsAMethodReplaceTheAnnotationOfItsClass() {
        try (GuardedContext context = GuardedContext.of(Backup.class)) {
            assertThat(context.bean(Backup.class).ofItsOwn()).containsExactly("own");
        }
    }

    @Test
    void doesNotGuardTheMethodsOfObject() {
        try (GuardedContext context = GuardedContext.of(Backup.class)) {
            Backup backup = context.bean(Backup.class);

            assertThat(backup).hasToString("a backup").isEqualTo(backup).hasSameHashCodeAs(backup);
            assertThat(context.permits.requests).isEmpty();
        }
    }

    @Test
    void leavesPrivateAndStaticMethodsAlone() {
        try (GuardedContext context = GuardedContext.of(Backup.class)) {
            assertThat(context.bean(Backup.class).throughPrivateMethod()).containsExactly("backup");
            assertThat(Backup.staticMethod()).isEmpty();
            assertThat(context.permits.requests).hasSize(1);
        }
    }

    @Test
    void guardsInheritedMethods() {
        try (GuardedContext context = GuardedContext.of(Nightly.class)) {
            assertThat(context.bean(Nightly.class).inherited()).containsExactly("nightly");
            assertThat(context.bean(Nightly.class).run("x")).containsExactly("nightly");
        }
    }

    @Test
    void isInherited() {
        try (GuardedContext context = GuardedContext.of(SpecialBackup.class)) {
            assertThat(context.bean(SpecialBackup.class).publicMethod()).containsExactly("backup");
            assertThat(context.bean(SpecialBackup.class).special()).containsExactly("backup");
        }
    }

    @Test
    void guardsTheImplementationOfAnAnnotatedInterface() {
        try (GuardedContext classes = GuardedContext.of(ExportJob.class);
                GuardedContext interfaces = GuardedContext.withInterfaceProxies(ExportJob.class)) {
            assertThat(classes.bean(ExportJob.class).run("x")).containsExactly("job");
            assertThat(classes.bean(Job.class).run("x")).containsExactly("job");
            assertThat(classes.bean(Job.class).defaultMethod()).containsExactly("job-default");
            assertThat(interfaces.bean(Job.class).run("x")).containsExactly("job");
            assertThat(interfaces.bean(Job.class).defaultMethod()).containsExactly("job-default");
        }
    }

    @Test
    void guardsAMethodThatASuperclassImplementsForAnAnnotatedInterfaceMethod() {
        try (GuardedContext context = GuardedContext.of(Inheriting.class)) {
            assertThat(context.bean(Inheriting.class).inherited()).containsExactly("inherited");
        }
    }

    @Test
    void guardsAGenericMethodHoweverItIsCalled() {
        try (GuardedContext context = GuardedContext.of(StringTask.class)) {
            Task<String> task = context.bean(StringTask.class);

            assertThat(task.run("x")).containsExactly("task:x");
            assertThat(context.bean(StringTask.class).run("x")).containsExactly("task:x");
        }
    }

    @Test
    void guardsAPublicMethodOfAPackagePrivateSuperclass() {
        try (GuardedContext context = GuardedContext.of(VisibleJob.class)) {
            assertThat(context.bean(VisibleJob.class).hidden()).containsExactly("hidden");
        }
    }

    @Test
    void guardsABeanThatIsAProxyAlready() {
        try (GuardedContext context = GuardedContext.of(RepositoryFactory.class)) {
            Repository repository = context.bean(Repository.class);

            assertThat(AopUtils.isAopProxy(repository)).isTrue();
            assertThat(repository.find("x")).containsExactly("repository");
            assertThat(repository.findAll()).containsExactly("repository:all");
            assertThat(((Health) repository).health()).isEmpty();
            assertThat(context.permits.requests).hasSize(2);
        }
    }

    static Set<String> held() {
        return Permits.find().map(grant -> grant.permits().keySet()).orElseGet(TreeSet::new);
    }

    @WithPermits("backup")
    static class Backup {

        public Set<String> publicMethod() {
            return held();
        }

        Set<String> packagePrivateMethod() {
            return held();
        }

        @WithPermits("own")
        Set<String> ofItsOwn() {
            return held();
        }

        Set<String> throughPrivateMethod() {
            return privateMethod();
        }

        private Set<String> privateMethod() {
            return held();
        }

        static Set<String> staticMethod() {
            return held();
        }

        @Override
        public String toString() {
            return "a backup";
        }

        @Override
        public boolean equals(Object other) {
            return other == this;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    static class SpecialBackup extends Backup {

        Set<String> special() {
            return held();
        }
    }

    static class Base {

        public Set<String> inherited() {
            return held();
        }
    }

    @WithPermits("nightly")
    static class Nightly extends Base implements Task<String> {

        @Override
        public Set<String> run(String argument) {
            return held();
        }
    }

    interface Task<T> {

        Set<String> run(T argument);
    }

    static class StringTask implements Task<String> {

        @Override
        @WithPermits("task:#{#argument}")
        public Set<String> run(String argument) {
            return held();
        }
    }

    @WithPermits("job")
    interface Job {

        Set<String> run(String argument);

        @WithPermits("job-default")
        default Set<String> defaultMethod() {
            return held();
        }
    }

    static class ExportJob implements Job {

        @Override
        public Set<String> run(String argument) {
            return held();
        }
    }

    interface HasInherited {

        @WithPermits("inherited")
        Set<String> inherited();
    }

    static class Inheriting extends Base implements HasInherited {}

    abstract static class HiddenJob {

        @WithPermits("hidden")
        public Set<String> hidden() {
            return held();
        }
    }

    public static class VisibleJob extends HiddenJob {}

    @WithPermits("repository")
    interface Repository {

        Set<String> find(String id);

        @WithPermits("repository:all")
        Set<String> findAll();
    }

    interface Health {

        Set<String> health();
    }

    static class RepositoryFactory implements FactoryBean<Repository> {

        @Override
        public Repository getObject() {
            ProxyFactory factory = new ProxyFactory(Repository.class, Health.class);
            factory.addAdvice((MethodInterceptor) invocation -> held());
            return (Repository) factory.getProxy();
        }

        @Override
        public Class<?> getObjectType() {
            return Repository.class;
        }
    }
}
