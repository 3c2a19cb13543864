package io.dbsemaphore.rewrite;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.openrewrite.java.tree.Expression;
import org.openrewrite.java.tree.J;

/** The attributes that are given to an annotation. */
final class Attributes {

    private final Map<String, Expression> given = new LinkedHashMap<>();

    Attributes(J.Annotation annotation) {
        List<Expression> arguments = annotation.getArguments();
        for (Expression argument : arguments == null ? List.<Expression>of() : arguments) {
            if (argument instanceof J.Assignment assignment) {
                given.put(assignment.getVariable().toString(), assignment.getAssignment());
            } else if (!(argument instanceof J.Empty)) {
                given.put("value", argument);
            }
        }
    }

    boolean has(String name) {
        return given.containsKey(name);
    }

    /** {@return the literal that an attribute is set to; null if none} */
    @Nullable String literal(String name) {
        return given.get(name) instanceof J.Literal literal ? String.valueOf(literal.getValue()) : null;
    }

    /** {@return whether an attribute is this constant of an enumeration} */
    boolean is(String name, String constant) {
        return String.valueOf(given.get(name)).endsWith(constant);
    }
}
