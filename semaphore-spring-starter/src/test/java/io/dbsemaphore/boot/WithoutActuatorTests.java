package io.dbsemaphore.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.orders.OrdersApplication;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.testing.Slow;
import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Whatever of the Actuator and of Micrometer is not on the class path, the application starts as {@code main} starts it. */
@Slow
class WithoutActuatorTests {

    private static final String ACTUATOR = "spring-boot-(starter-)?(actuator|health|micrometer).*";
    private static final String MICROMETER = "micrometer-(core|registry|jakarta|observation-test).*";

    @ParameterizedTest
    @ValueSource(strings = {MICROMETER, ACTUATOR + "|" + MICROMETER})
    void startsWithout(String jars) throws Exception {
        try (URLClassLoader without = classPathWithout(jars)) {
            String answer = (String)
                    without.loadClass(Host.class.getName()).getMethod("acquire").invoke(null);

            assertThat(answer).startsWith("held by ").doesNotContain("semaphoreMetrics");
        }
    }

    /** That something would be there if nothing were missing, and that this way of starting finds it. */
    @Test
    void measuresWithAllOfIt() throws Exception {
        try (URLClassLoader all = classPathWithout("no-such-jar")) {
            assertThat(all.loadClass(Host.class.getName()).getMethod("acquire").invoke(null))
                    .asString()
                    .contains("semaphoreMetrics", "semaphoreAcquireObservations");
        }
    }

    private static URLClassLoader classPathWithout(String jars) throws MalformedURLException {
        List<URL> urls = new ArrayList<>();
        int left = 0;
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        for (String entry : classPath.split(File.pathSeparator, -1)) {
            Path path = Path.of(entry);
            if (path.getFileName().toString().matches(jars)) {
                left++;
            } else {
                urls.add(path.toUri().toURL());
            }
        }
        assertThat(left > 0 || jars.equals("no-such-jar"))
                .as("left out %s", jars)
                .isTrue();
        return new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    /** Runs in a class loader of its own. */
    public static final class Host {

        private Host() {}

        public static String acquire() {
            ClassLoader before = Thread.currentThread().getContextClassLoader();
            Thread.currentThread().setContextClassLoader(Host.class.getClassLoader());
            try (ConfigurableApplicationContext context = new SpringApplicationBuilder(OrdersApplication.class)
                    .web(WebApplicationType.NONE)
                    .properties(
                            "spring.liquibase.change-log=classpath:com/example/orders/changelog.xml",
                            "spring.datasource.generate-unique-name=true",
                            "spring.flyway.enabled=false",
                            "spring.main.banner-mode=off",
                            "management.endpoints.web.exposure.include=*",
                            "semaphore.semaphores.orders.capacity=1",
                            "semaphore.owner=this host")
                    .run()) {
                try (PermitGrant grant =
                        context.getBean(SemaphoreTemplate.class).acquire(AcquireRequest.of("orders"))) {
                    return "held by " + grant.owner() + ", instrumented by "
                            + Stream.of(context.getBeanDefinitionNames())
                                    .filter(Set.of("semaphoreMetrics", "semaphoreAcquireObservations")::contains)
                                    .toList();
                }
            } finally {
                Thread.currentThread().setContextClassLoader(before);
            }
        }
    }
}
