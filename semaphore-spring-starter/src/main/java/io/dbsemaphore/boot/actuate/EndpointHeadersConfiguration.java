package io.dbsemaphore.boot.actuate;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.server.WebFilter;
import org.springframework.web.util.ServletRequestPathUtils;

/** Sets the {@linkplain EndpointHeaders headers} where the endpoint is served: by the application, or on a management port of its own. */
@ManagementContextConfiguration(proxyBeanMethods = false)
@ConditionalOnAvailableEndpoint(endpoint = SemaphoresEndpoint.class, exposure = EndpointExposure.WEB)
final class EndpointHeadersConfiguration {

    /** Before the filters of Spring Security, whose refusals have the headers, too. */
    private static final int FIRST = Ordered.HIGHEST_PRECEDENCE + 100;

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = Type.SERVLET)
    @ConditionalOnClass({OncePerRequestFilter.class, HttpServletRequest.class})
    static final class Servlet {

        @Bean
        HeaderFilter semaphoresEndpointHeaders(ObjectProvider<PathMappedEndpoints> endpoints) {
            return new HeaderFilter(new EndpointHeaders(endpoints));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = Type.REACTIVE)
    static final class Reactive {

        @Bean
        @Order(FIRST)
        WebFilter semaphoresEndpointHeaders(ObjectProvider<PathMappedEndpoints> endpoints) {
            EndpointHeaders headers = new EndpointHeaders(endpoints);
            return (exchange, chain) -> {
                headers.set(
                        exchange.getRequest().getPath().pathWithinApplication(),
                        exchange.getResponse().getHeaders()::set);
                return chain.filter(exchange);
            };
        }
    }

    @Order(FIRST)
    static final class HeaderFilter extends OncePerRequestFilter {

        private final EndpointHeaders headers;

        HeaderFilter(EndpointHeaders headers) {
            this.headers = headers;
        }

        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            if (headers.mayConcern(request.getRequestURI())) {
                headers.set(ServletRequestPathUtils.parse(request).pathWithinApplication(), response::setHeader);
            }
            chain.doFilter(request, response);
        }
    }
}
