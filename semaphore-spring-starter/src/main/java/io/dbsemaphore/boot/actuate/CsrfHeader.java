package io.dbsemaphore.boot.actuate;

import org.jspecify.annotations.Nullable;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * The header by which Spring Security recognizes the page's own requests.
 *
 * @param name the name of the header
 * @param value its value; empty if the page has to read it from the cookie {@code XSRF-TOKEN} at each request
 */
record CsrfHeader(String name, String value) {

    private static final boolean SERVLET_SECURITY = isPresent("org.springframework.security.web.csrf.CsrfToken")
            && isPresent("org.springframework.web.context.request.RequestContextHolder")
            && isPresent("jakarta.servlet.ServletRequest");

    private static final CsrfHeader OF_THE_COOKIE = new CsrfHeader("X-XSRF-TOKEN", "");

    /** The header for the page that the current request asks for. */
    static CsrfHeader ofCurrentRequest() {
        CsrfHeader ofServlet = SERVLET_SECURITY ? Servlet.header() : null;
        return ofServlet == null ? OF_THE_COOKIE : ofServlet;
    }

    private static boolean isPresent(String type) {
        return ClassUtils.isPresent(type, CsrfHeader.class.getClassLoader());
    }

    /** Loaded only where Spring Security guards servlets. */
    private static final class Servlet {

        private static @Nullable CsrfHeader header() {
            RequestAttributes request = RequestContextHolder.getRequestAttributes();
            return request != null
                            && request.getAttribute("_csrf", RequestAttributes.SCOPE_REQUEST) instanceof CsrfToken token
                    ? new CsrfHeader(token.getHeaderName(), token.getToken())
                    : null;
        }
    }
}
