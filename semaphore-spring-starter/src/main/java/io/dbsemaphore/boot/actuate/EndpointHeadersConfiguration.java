package io.dbsemaphore.boot.actuate;

import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.server.PathContainer.PathSegment;
import org.springframework.util.StringUtils;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.server.WebFilter;

/** Sets the {@linkplain EndpointHeaders headers} of the endpoint, on the application's port or on a management port. */
@ManagementContextConfiguration(proxyBeanMethods = false)
@ConditionalOnAvailableEndpoint(endpoint = SemaphoresEndpoint.class, exposure = EndpointExposure.WEB)
final class EndpointHeadersConfiguration {

    /** Before the filters of Spring Security, so that their refusals have the headers, too. */
    private static final int FIRST = Ordered.HIGHEST_PRECEDENCE + 100;

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnClass({FilterRegistrationBean.class, HttpServletRequest.class})
    static final class Servlet {

        @Bean
        FilterRegistrationBean<Filter> semaphoresEndpointHeaders(ObjectProvider<PathMappedEndpoints> endpoints) {
            EndpointHeaders headers = new EndpointHeaders(endpoints);
            FilterRegistrationBean<Filter> filter = new FilterRegistrationBean<>((request, response, chain) -> {
                HttpServletRequest http = (HttpServletRequest) request;
                String path = http.getPathInfo() == null ? http.getServletPath() : http.getPathInfo(); // decoded
                headers.set(segments(path), ((HttpServletResponse) response)::setHeader);
                chain.doFilter(request, response);
            });
            filter.setOrder(FIRST);
            return filter;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    static final class Reactive {

        @Bean
        @Order(FIRST)
        WebFilter semaphoresEndpointHeaders(ObjectProvider<PathMappedEndpoints> endpoints) {
            EndpointHeaders headers = new EndpointHeaders(endpoints);
            return (exchange, chain) -> {
                List<String> path = exchange.getRequest().getPath().pathWithinApplication().elements().stream()
                        .filter(PathSegment.class::isInstance)
                        .map(element -> ((PathSegment) element).valueToMatch())
                        .toList();
                headers.set(path, exchange.getResponse().getHeaders()::set);
                return chain.filter(exchange);
            };
        }
    }

    private static List<String> segments(String path) {
        return List.of(StringUtils.tokenizeToStringArray(path, "/"));
    }

    /**
     * The headers of all answers below the path of the endpoint, errors included. They forbid framing by other sites, content sniffing and
     * caching. Headers that the application's own security sets later replace them.
     */
    static final class EndpointHeaders {

        private static final Map<String, String> HEADERS = Map.of(
                "Content-Security-Policy", "frame-ancestors 'none'",
                "X-Frame-Options", "DENY",
                "X-Content-Type-Options", "nosniff",
                "Cache-Control", "no-store");

        /** The segments of the endpoint's path; empty if it is not exposed. Looked up at the first request, when all endpoints exist. */
        private final Supplier<List<String>> endpoint;

        EndpointHeaders(ObjectProvider<PathMappedEndpoints> endpoints) {
            endpoint = SingletonSupplier.of(() -> {
                PathMappedEndpoints paths = endpoints.getIfAvailable();
                String path = paths == null ? null : paths.getPath(EndpointId.of("semaphores"));
                return path == null ? List.<String>of() : segments(path);
            });
        }

        /**
         * Sets the headers if the path is that of the endpoint or below it.
         *
         * @param path the path without the prefixes of the application and its servlet
         */
        void set(List<String> path, BiConsumer<String, String> header) {
            if (!endpoint.get().isEmpty() && Collections.indexOfSubList(path, endpoint.get()) == 0) {
                HEADERS.forEach(header);
            }
        }
    }
}
