package io.dbsemaphore.aop;

import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Types that a method returns before its work has ended, or that do their work only when they are used. */
final class LateTypes {

    private static final List<Class<?>> CLASSES =
            List.of(Future.class, CompletionStage.class, Callable.class, Flow.Publisher.class, BaseStream.class);

    /** By name, so that these libraries are not required. */
    private static final Set<String> NAMES = Set.of(
            "org.reactivestreams.Publisher",
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.context.request.async.WebAsyncTask",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
            "jakarta.ws.rs.core.StreamingOutput",
            "kotlin.sequences.Sequence",
            "kotlinx.coroutines.Job",
            "kotlinx.coroutines.flow.Flow",
            "io.smallrye.mutiny.Uni",
            "io.vavr.concurrent.Future",
            "io.vertx.core.Future",
            "scala.concurrent.Future",
            "rx.Completable",
            "rx.Observable",
            "rx.Single");

    private static final String RX_JAVA = "io.reactivex.";

    private LateTypes() {}

    /** Whether the type is one of them or a subtype. */
    static boolean contains(Class<?> type) {
        return CLASSES.stream().anyMatch(late -> late.isAssignableFrom(type)) || isNamed(type);
    }

    private static boolean isNamed(@Nullable Class<?> type) {
        return type != null
                && (NAMES.contains(type.getName())
                        || type.getName().startsWith(RX_JAVA)
                        || isNamed(type.getSuperclass())
                        || Stream.of(type.getInterfaces()).anyMatch(LateTypes::isNamed));
    }
}
