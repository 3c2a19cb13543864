#!/bin/bash
# Spring's @Retryable and Resilience4j's @Retry run on opposite sides of one and the same advisor.
#
# Version:   Spring Boot 4.1.1 (Spring Framework 7), Resilience4j 2.4.0 for Spring Boot 4.
# Behaviour: A method fails twice and then succeeds; an advisor of order 1000 (a lock, a permit, a transaction) guards it.
#            With @Retryable the advisor runs for each attempt, whatever its order is: that annotation's post-processor
#            puts itself in front of existing advisors. With @Retry it runs once around all attempts, since that aspect's
#            order is near the lowest precedence; resilience4j.retry.retry-aspect-order=500 turns it round.
# Seen:      @Retryable, runs of the advisor: 3
#            @Retry, runs of the advisor: 1
#            @Retry with retry-aspect-order=500, runs of the advisor: 3
# A good engineer would guess that replacing one annotation by the other changes nothing around the method, and that an
# advisor's order, of which both frameworks have one, decides in both cases.
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
<dependencyManagement><dependencies>
<dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-dependencies</artifactId><version>4.1.1</version><type>pom</type><scope>import</scope></dependency>
</dependencies></dependencyManagement>
<dependencies>
<dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter</artifactId><version>4.1.1</version></dependency>
<dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-aspectj</artifactId><version>4.1.1</version></dependency>
<dependency><groupId>io.github.resilience4j</groupId><artifactId>resilience4j-spring-boot4</artifactId><version>2.4.0</version></dependency>
</dependencies></project>
POM
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.10.0:build-classpath -Dmdep.outputFile=classpath >&2

cat >Finding.java <<'JAVA'
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.springframework.aop.Advisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;

public class Finding {
    static final AtomicInteger runs = new AtomicInteger();
    static final AtomicInteger attempts = new AtomicInteger();

    public static void main(String[] args) throws Exception {
        check("@Retryable, runs of the advisor", 3, runs(false));
        check("@Retry, runs of the advisor", 1, runs(true));
        check("@Retry with retry-aspect-order=500, runs of the advisor", 3, runs(true, "--resilience4j.retry.retry-aspect-order=500"));
    }

    static int runs(boolean resilience4j, String... properties) {
        var application = new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE).properties(
                "spring.main.banner-mode=off", "logging.level.root=error", "resilience4j.retry.instances.r.max-attempts=3",
                "resilience4j.retry.instances.r.wait-duration=1ms");
        runs.set(0);
        attempts.set(0);
        try (var context = application.run(properties)) {
            Work work = context.getBean(Work.class);
            if (resilience4j) work.byResilience4j(); else work.bySpring();
        }
        if (attempts.get() != 3) throw new AssertionError(attempts + " attempts instead of 3");
        return runs.get();
    }

    public static class Work {
        @Retryable(maxRetries = 2, delay = 1)
        public void bySpring() { attempt(); }

        @io.github.resilience4j.retry.annotation.Retry(name = "r")
        public void byResilience4j() { attempt(); }

        void attempt() {
            if (attempts.incrementAndGet() < 3) throw new IllegalStateException();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableResilientMethods
    public static class Application {
        @Bean
        Work work() { return new Work(); }

        @Bean
        static Advisor guard() {
            var pointcut = new StaticMethodMatcherPointcut() {
                @Override
                public boolean matches(java.lang.reflect.Method method, Class<?> type) { return type == Work.class && method.getName().startsWith("by"); }
            };
            MethodInterceptor advice = invocation -> { runs.incrementAndGet(); return invocation.proceed(); };
            DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(pointcut, advice);
            advisor.setOrder(1000);
            return advisor;
        }
    }

    static void check(String what, Object expected, Object seen) {
        System.out.println(what + ": " + seen);
        if (!expected.equals(seen)) throw new AssertionError("The behaviour has changed. " + what + ": expected " + expected);
    }
}
JAVA
javac -d classes -cp "$(cat classpath)" Finding.java # compiled, since proxies need a class loader that finds them
timeout 90 java -cp "classes:$(cat classpath)" Finding || exit 1
