package io.dbsemaphore.rewrite;

import org.jspecify.annotations.Nullable;
import org.openrewrite.Cursor;
import org.openrewrite.java.tree.J;
import org.openrewrite.java.tree.JavaType;
import org.openrewrite.java.tree.TypeTree;
import org.openrewrite.java.tree.TypeUtils;

/** A type or one of its methods, which has an annotation. */
record Annotated(J.CompilationUnit file, J.ClassDeclaration type, J.@Nullable MethodDeclaration method) {

    static Annotated at(Cursor declaration) {
        Object tree = declaration.getValue();
        return new Annotated(
                declaration.firstEnclosingOrThrow(J.CompilationUnit.class),
                tree instanceof J.ClassDeclaration type
                        ? type
                        : declaration.firstEnclosingOrThrow(J.ClassDeclaration.class),
                tree instanceof J.MethodDeclaration method ? method : null);
    }

    /** {@return {@code Type.method}, or {@code Type}} */
    String name() {
        JavaType.FullyQualified declared = type.getType();
        String name = declared == null ? type.getSimpleName() : declared.getClassName();
        return method == null ? name : name + "." + method.getSimpleName();
    }

    /** {@return a text that no other type or method has} */
    String signature() {
        return method == null ? String.valueOf(type.getType()) : String.valueOf(method.getMethodType());
    }

    /** {@return whether the annotation is for other types only} */
    boolean isInherited() {
        return method == null
                && (type.getKind() == J.ClassDeclaration.Kind.Type.Interface
                        || type.getKind() == J.ClassDeclaration.Kind.Type.Annotation
                        || type.hasModifier(J.Modifier.Type.Abstract));
    }

    /** {@return whether the work goes on when the method has returned} */
    boolean endsLater() {
        TypeTree returned = method == null ? null : method.getReturnTypeExpression();
        return returned != null
                && (TypeUtils.isAssignableTo("java.util.concurrent.CompletionStage", returned.getType())
                        || TypeUtils.isAssignableTo("org.reactivestreams.Publisher", returned.getType()));
    }
}
