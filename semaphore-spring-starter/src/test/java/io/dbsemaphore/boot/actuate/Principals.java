package io.dbsemaphore.boot.actuate;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.security.Principal;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What the host's security does: says who it is. */
@Configuration(proxyBeanMethods = false)
class Principals {

    static final String HEADER = "X-User";

    @Bean
    Filter principalOfHeader() {
        return (request, response, chain) -> {
            String user = ((HttpServletRequest) request).getHeader(HEADER);
            chain.doFilter(user == null ? request : new As((HttpServletRequest) request, user), response);
        };
    }

    private static final class As extends HttpServletRequestWrapper {

        private final String user;

        As(HttpServletRequest request, String user) {
            super(request);
            this.user = user;
        }

        @Override
        public Principal getUserPrincipal() {
            return () -> user;
        }
    }
}
