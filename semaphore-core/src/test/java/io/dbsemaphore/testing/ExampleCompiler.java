package io.dbsemaphore.testing;

import java.io.File;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Compiles examples against the class path of the tests and the examples before them. */
public final class ExampleCompiler {

    private static final Pattern CLASS = Pattern.compile("^(?:public )?class (\\w+)", Pattern.MULTILINE);

    private final Path output;

    /** @param output the directory of the class files */
    public ExampleCompiler(Path output) {
        this.output = output;
    }

    /** Compiles one source, and returns its errors. */
    public List<String> errors(String example) {
        Matcher name = CLASS.matcher(example);
        String type = name.find() ? name.group(1) : "OnlyImports";
        URI uri = URI.create("string:///" + type + ".java");
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
        String classPath = output + File.pathSeparator + System.getProperty("java.class.path");
        compiler.getTask(
                        null,
                        null,
                        diagnostics,
                        List.of("-proc:none", "-parameters", "-cp", classPath, "-d", output.toString()),
                        null,
                        List.of(new SimpleJavaFileObject(uri, JavaFileObject.Kind.SOURCE) {
                            @Override
                            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                                return example;
                            }
                        }))
                .call();
        return diagnostics.getDiagnostics().stream()
                .filter(diagnostic -> diagnostic.getKind() == Diagnostic.Kind.ERROR)
                .map(Object::toString)
                .toList();
    }
}
