package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.proxies;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;

import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.annotation.WithPermits;
import java.lang.reflect.Method;
import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.javapoet.ClassName;

/** What {@code process-aot} learns of annotated beans. */
class GuardedBeanAotTests {

    @Test
    void knowsTheAttributesOfTheAnnotation() throws Exception {
        RuntimeHints hints = process(Plain.class);

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
}
