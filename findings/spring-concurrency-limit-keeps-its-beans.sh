#!/bin/bash
# An object whose method Spring's @ConcurrencyLimit has guarded once is never collected.
#
# Version:   Spring Framework 7.0.9 (Spring Boot 4.1.1).
# Behaviour: The limit is counted for each object, in a map of its post-processor that has strong references and from which
#            nothing is removed. A bean of scope prototype stays reachable after its first guarded call for as long as the
#            context lives, with all that it refers to; so does one of another scope whose objects come and go. A call of
#            an unguarded method of the same proxy, or of a @Retryable one, keeps nothing.
# Seen:      reachable after an unguarded call: 0 of 20
#            reachable after a call of a @Retryable method: 0 of 20
#            reachable after a call of a @ConcurrencyLimit method: 20 of 20
# A good engineer would guess that an annotation on a method leaves the life of the object to the scope of its bean, and that
# two annotations which one @EnableResilientMethods switches on do not differ in this.
#
# Needs: Java 17 or later, Maven. Fails if the behaviour has changed.
set -euo pipefail
for tool in mvn java; do command -v "$tool" >/dev/null || { echo "$tool is needed" >&2; exit 1; }; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>finding</groupId><artifactId>finding</artifactId><version>1</version>
<dependencies>
<dependency><groupId>org.springframework</groupId><artifactId>spring-context</artifactId><version>7.0.9</version></dependency>
</dependencies></project>
POM
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.10.0:build-classpath -Dmdep.outputFile=classpath >&2

cat >Finding.java <<'JAVA'
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;

public class Finding {
    static final int OBJECTS = 20;

    public static void main(String[] args) throws Exception {
        try (var context = new AnnotationConfigApplicationContext(Application.class)) {
            check("reachable after an unguarded call", 0, reachable(context, Work::unguarded));
            check("reachable after a call of a @Retryable method", 0, reachable(context, Work::retried));
            check("reachable after a call of a @ConcurrencyLimit method", OBJECTS, reachable(context, Work::limited));
        }
    }

    static long reachable(AnnotationConfigApplicationContext context, Consumer<Work> call) throws Exception {
        List<WeakReference<Work>> objects = Stream.generate(() -> used(context, call)).limit(OBJECTS).toList();
        long reachable = OBJECTS;
        for (int i = 0; i < 20 && reachable > 0; i++) { // an object may outlive the first collection
            System.gc();
            Thread.sleep(50);
            reachable = objects.stream().filter(each -> each.get() != null).count();
        }
        return reachable;
    }

    static WeakReference<Work> used(AnnotationConfigApplicationContext context, Consumer<Work> call) {
        Work work = context.getBean(Work.class);
        call.accept(work);
        return new WeakReference<>(work);
    }

    public static class Work {
        public void unguarded() {}

        @Retryable
        public void retried() {}

        @ConcurrencyLimit(1)
        public void limited() {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableResilientMethods
    public static class Application {
        @Bean
        @Scope("prototype")
        Work work() { return new Work(); }
    }

    static void check(String what, long expected, long seen) {
        System.out.println(what + ": " + seen + " of " + OBJECTS);
        if (expected != seen) throw new AssertionError("The behaviour has changed. " + what + ": expected " + expected);
    }
}
JAVA
javac -d classes -cp "$(cat classpath)" Finding.java
timeout 90 java -cp "classes:$(cat classpath)" Finding 2>/dev/null || exit 1
