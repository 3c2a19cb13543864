package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.proxies;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;

import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.annotation.WithPermits;
import java.lang.reflect.Method;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.javapoet.ClassName;

/** What {@code process-aot} learns of annotated beans. */
class GuardedBeanAotTests {

    @Test
    void knowsTheAttributesOfTheAnnotation() throws Exception {
        RuntimeHints hints = process(Backup.class);

        assertThat(reflection().onMethodInvocation(WithPermits.class.getDeclaredMethod("names")))
                .accepts(hints);
        assertThat(proxies().forInterfaces(WithPermits.class)).accepts(hints);
    }

    @Test
    void knowsAnnotatedMethodsAndTheirFallbacks() throws Exception {
        RuntimeHints hints = process(Backup.class);

        for (Method method : Backup.class.getDeclaredMethods()) {
            assertThat(reflection().onMethodInvocation(method)).accepts(hints);
        }
    }

    @Test
    void addsNothingForOtherBeans() throws Exception {
        assertThat(reflection().onMethodInvocation(Plain.class.getDeclaredMethod("run")))
                .rejects(process(Plain.class));
    }

    @Test
    void refusesWhatCannotBeGuarded() {
        assertThatExceptionOfType(Exception.class)
                .isThrownBy(() -> process(Unguardable.class))
                .withRootCauseInstanceOf(UnguardableMethodException.class);
    }

    @Test
    void needsNoValuesOfPlaceholders() {
        assertThatCode(() -> determineTypes(WithPlaceholder.class)).doesNotThrowAnyException();
    }

    @Test
    void refusesAMethodThatEndsLaterAheadOfTime() {
        assertThatExceptionOfType(UnguardableMethodException.class).isThrownBy(() -> determineTypes(EndsLater.class));
    }

    /** As the build does it, with the advisor. */
    private static void determineTypes(Class<?> bean) {
        System.setProperty(AbstractAotProcessor.AOT_PROCESSING, "true");
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(context);
            AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(context);
            context.register(GuardedContext.AdvisorConfiguration.class, bean);
            context.refreshForAotProcessing(new RuntimeHints());
        } finally {
            System.clearProperty(AbstractAotProcessor.AOT_PROCESSING);
        }
    }

    private static RuntimeHints process(Class<?> bean) {
        GenerationContext generation = new DefaultGenerationContext(
                new ClassNameGenerator(ClassName.get("com.example", "Generated")), new InMemoryGeneratedFiles());
        try (GenericApplicationContext context = new GenericApplicationContext()) {
            context.registerBean(bean);
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        }
        return generation.getRuntimeHints();
    }

    public static class Backup {

        @WithPermits(names = "backup", fallbackMethod = "later")
        public String run() {
            return "done";
        }

        String later(PermitsUnavailableException refused) {
            return "later";
        }
    }

    public static class Plain {

        public void run() {}
    }

    public static class Unguardable {

        @WithPermits("backup")
        public final void run() {}
    }

    public static class WithPlaceholder {

        @WithPermits(names = "backup", waitTime = "${wait.where.it.runs}")
        public void run() {}
    }

    public static class EndsLater {

        @WithPermits("backup")
        public Future<String> run() {
            throw new IllegalStateException();
        }
    }
}
