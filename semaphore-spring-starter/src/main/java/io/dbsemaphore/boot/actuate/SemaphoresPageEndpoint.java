package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.admin.SemaphoreAdmin;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.core.io.ClassPathResource;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.util.ClassUtils;
import org.springframework.util.MimeType;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.util.HtmlUtils;

/**
 * The endpoint with the operator's page, which a browser gets at its URL. Clients that do not prefer {@code text/html} get JSON at
 * the same URL.
 *
 * <p>The files of the page are joined at the first request, and each request fills in the parts that differ. Style and script are part of
 * the document. Its Content Security Policy permits only these, by a nonce, and requests to the endpoint.
 */
public class SemaphoresPageEndpoint extends SemaphoresEndpoint {

    private static final MimeType HTML = MimeType.valueOf("text/html;charset=UTF-8");

    /** A placeholder for the content of another file. */
    private static final Pattern FILE = Pattern.compile("\\{\\{(\\w+\\.(?:css|js))}}");

    private final Supplier<String> template;

    SemaphoresPageEndpoint(SemaphoreAdmin admin, SemaphoreEndpointProperties properties, Access access) {
        super(admin, properties, access);
        this.template = SingletonSupplier.of(() -> FILE.matcher(read("page.html"))
                .replaceAll(file -> Matcher.quoteReplacement(read(file.group(1))))
                .replace("{{writable}}", String.valueOf(access == Access.UNRESTRICTED))
                .replace("{{set-capacity}}", String.valueOf(properties.setCapacityEnabled()))
                .replace("{{force-release}}", String.valueOf(properties.forceReleaseEnabled())));
    }

    /**
     * Returns the page, without data: its script reads them from the endpoint.
     *
     * @param securityContext the principal, whose rights decide which buttons are shown
     * @return one self-contained HTML document
     */
    @ReadOperation(produces = "text/html")
    public WebEndpointResponse<String> page(SecurityContext securityContext) {
        CsrfHeader csrf = CsrfHeader.ofCurrentRequest();
        return new WebEndpointResponse<>(
                template.get()
                        .replace("{{signed-in}}", String.valueOf(mayWrite(securityContext)))
                        .replace("{{nonce}}", UUID.randomUUID().toString())
                        .replace("{{csrf-header}}", HtmlUtils.htmlEscape(csrf.name()))
                        .replace("{{csrf-token}}", HtmlUtils.htmlEscape(csrf.value())),
                HTML);
    }

    private static String read(String file) {
        try {
            return new ClassPathResource("page/" + file, SemaphoresPageEndpoint.class)
                    .getContentAsString(StandardCharsets.UTF_8);
        } catch (IOException failure) {
            throw new UncheckedIOException("The page of the endpoint cannot be read: " + file, failure);
        }
    }

    /**
     * The header by which Spring Security recognizes the page's own requests.
     *
     * @param name the name of the header
     * @param value its value; empty if the page has to read it from the cookie {@code XSRF-TOKEN} at each request
     */
    private record CsrfHeader(String name, String value) {

        private static final boolean SPRING_SECURITY = ClassUtils.isPresent(
                "org.springframework.security.web.csrf.CsrfToken", CsrfHeader.class.getClassLoader());

        private static final CsrfHeader OF_THE_COOKIE = new CsrfHeader("X-XSRF-TOKEN", "");

        /** The header for the page of the current request. */
        static CsrfHeader ofCurrentRequest() {
            RequestAttributes servlet = SPRING_SECURITY ? RequestContextHolder.getRequestAttributes() : null;
            return servlet != null
                            && servlet.getAttribute("_csrf", RequestAttributes.SCOPE_REQUEST) instanceof CsrfToken token
                    ? new CsrfHeader(token.getHeaderName(), token.getToken())
                    : OF_THE_COOKIE;
        }
    }

    /** Hints for native images: the files of the operator's page. */
    static final class Hints implements RuntimeHintsRegistrar {

        @Override
        public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
            hints.resources()
                    .registerPattern(
                            SemaphoresPageEndpoint.class.getPackageName().replace('.', '/') + "/page/*");
        }
    }
}
