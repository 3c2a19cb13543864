package io.dbsemaphore.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.admin.SemaphoreAdmin;
import java.io.File;
import java.lang.reflect.Proxy;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** The endpoint on a class path without Spring Security, whose users come from elsewhere. */
class WithoutSpringSecurityTests {

    @Test
    void thePageKnowsTheUserAndReadsItsTokenFromTheCookie() throws Exception {
        try (URLClassLoader without = classPathWithoutSpringSecurity()) {
            assertThat(without.loadClass(Page.class.getName()).getMethod("html").invoke(null))
                    .asString()
                    .contains("X-XSRF-TOKEN", "data-signed-in=\"true\"");
        }
    }

    private static URLClassLoader classPathWithoutSpringSecurity() throws MalformedURLException {
        List<URL> urls = new ArrayList<>();
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        for (String entry : classPath.split(File.pathSeparator, -1)) {
            if (!Path.of(entry).getFileName().toString().startsWith("spring-security")) {
                urls.add(Path.of(entry).toUri().toURL());
            }
        }
        return new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    /** Runs in a class loader of its own. */
    public static final class Page {

        private Page() {}

        public static String html() {
            ClassLoader loader = Page.class.getClassLoader();
            assertThat(ClassUtils.isPresent("org.springframework.security.core.Authentication", loader))
                    .isFalse();
            SemaphoreAdmin admin = (SemaphoreAdmin) Proxy.newProxyInstance(
                    loader, new Class<?>[] {SemaphoreAdmin.class}, (proxy, method, arguments) -> null);
            MockHttpServletRequest request = new MockHttpServletRequest();
            request.setAttribute("_csrf", "of another library");
            RequestContextHolder.setRequestAttributes(new ServletRequestAttributes(request));
            return new SemaphoresPageEndpoint(
                            admin, new SemaphoreEndpointProperties(true, true, true, false), Access.UNRESTRICTED)
                    .page(new SecurityContext() {

                        @Override
                        public Principal getPrincipal() {
                            return () -> "ada";
                        }

                        @Override
                        public boolean isUserInRole(String role) {
                            return false;
                        }
                    })
                    .getBody();
        }
    }
}
