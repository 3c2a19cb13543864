package io.dbsemaphore.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dbsemaphore.annotation.WithPermits;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.SubmissionPublisher;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.asm.ClassWriter;
import org.springframework.asm.Opcodes;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/** Types of libraries that are not on the classpath are made up here, with their names and nothing else. */
class ReturnTypesTests {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "org.springframework.web.context.request.async.DeferredResult",
                "org.springframework.web.context.request.async.WebAsyncTask",
                "org.springframework.web.reactive.function.server.ServerResponse",
                "org.springframework.web.servlet.function.ServerResponse",
                "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
                "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
                "io.reactivex.Observable",
                "io.reactivex.rxjava3.core.Single",
                "io.smallrye.mutiny.Uni",
                "kotlinx.coroutines.flow.Flow"
            })
    void knowsTypesByNameAndTheirSubtypes(String name) {
        Generated generated = new Generated();
        Class<?> late = generated.type(name, Object.class.getName());

        assertThat(ReturnTypes.isLate(late)).as(name).isTrue();
        assertThat(ReturnTypes.isLate(generated.type("com.example.Own", name)))
                .as("subtype of " + name)
                .isTrue();
    }

    @Test
    void knowsTypesOfTheJdk() {
        assertThat(List.of(ForkJoinTask.class, SubmissionPublisher.class, LongStream.class))
                .allMatch(ReturnTypes::isLate);
    }

    @Test
    void knowsValues() {
        assertThat(List.of(
                        void.class, int.class, Object.class, String.class, List.class, Optional.class, Supplier.class))
                .noneMatch(ReturnTypes::isLate);
    }

    @Test
    void refusesASuspendingFunction() {
        Class<?> type = new Generated().typeWithSuspendingFunction("com.example.Suspending");
        AnnotatedMethod annotated = new AnnotatedMethod(
                ClassUtils.getMethod(type, "run", (Class<?>[]) null),
                type,
                AnnotationUtils.synthesizeAnnotation(WithPermits.class));

        assertThatIllegalStateException()
                .isThrownBy(() -> ReturnTypes.requireKnownEnd(annotated))
                .withMessageContaining("com.example.Suspending.run(Continuation): it is a suspending function");
    }

    private static final class Generated extends ClassLoader {

        Generated() {
            super(ReturnTypesTests.class.getClassLoader());
        }

        Class<?> type(String name, String superclass) {
            return define(name, writer(name, superclass));
        }

        Class<?> typeWithSuspendingFunction(String name) {
            type("kotlin.coroutines.Continuation", Object.class.getName());
            ClassWriter writer = writer(name, Object.class.getName());
            writer.visitMethod(
                    Opcodes.ACC_PUBLIC | Opcodes.ACC_ABSTRACT,
                    "run",
                    "(Lkotlin/coroutines/Continuation;)Ljava/lang/Object;",
                    null,
                    null);
            return define(name, writer);
        }

        private static ClassWriter writer(String name, String superclass) {
            ClassWriter writer = new ClassWriter(0);
            writer.visit(
                    Opcodes.V17,
                    Opcodes.ACC_PUBLIC | Opcodes.ACC_ABSTRACT,
                    name.replace('.', '/'),
                    null,
                    superclass.replace('.', '/'),
                    null);
            return writer;
        }

        private Class<?> define(String name, ClassWriter writer) {
            writer.visitEnd();
            byte[] bytes = writer.toByteArray();
            return defineClass(name, bytes, 0, bytes.length);
        }
    }
}
