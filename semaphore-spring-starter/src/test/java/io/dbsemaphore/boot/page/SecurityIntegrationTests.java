package io.dbsemaphore.boot.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.TestDatabase;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.config.annotation.web.reactive.EnableWebFluxSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.csrf.CookieCsrfTokenRepository;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.security.web.server.csrf.CookieServerCsrfTokenRepository;
import org.springframework.security.web.server.csrf.CsrfToken;
import org.springframework.security.web.server.csrf.ServerCsrfTokenRequestAttributeHandler;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/**
 * The page in an application with Spring Security: a login, roles, and a CSRF token in the session or in a cookie; in a reactive
 * application in a cookie.
 */
class SecurityIntegrationTests {

    private static final String EXPOSED = "management.endpoints.web.exposure.include=semaphores";
    private static final String WRITABLE = "management.endpoint.semaphores.set-capacity-enabled=true";

    private static Browser browser;
    private static TestDatabase.Schema database;
    private static OrdersHost session;
    private static OrdersHost cookie;
    private static OrdersHost reactive;

    @BeforeAll
    static void start() {
        browser = Browser.start();
        database = TestDatabase.create();
        session = OrdersHost.web(database, Security.class, TokenInSession.class, EXPOSED, WRITABLE);
        cookie = OrdersHost.web(database, Security.class, TokenInCookie.class, EXPOSED, WRITABLE);
        reactive = OrdersHost.reactive(database, ReactiveSecurity.class, EXPOSED, WRITABLE);
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
        if (database != null) {
            reactive.close();
            cookie.close();
            session.close();
            database.close();
        }
    }

    @AfterEach
    void signOut() {
        browser.driver().manage().deleteAllCookies();
    }

    @ParameterizedTest
    @ValueSource(strings = {"session", "cookie", "reactive"})
    void changesACapacityInTheNameOfTheUser(String csrf) {
        OrdersHost host = host(csrf);
        host.admin().create("secured-" + csrf, 2);
        signIn(host, "operator", "#/semaphore/secured-" + csrf);

        changeCapacity();

        browser.awaitText("#notice", "The capacity of secured-" + csrf + " is 7 now")
                .awaitText(".state", "7 available");
        assertThat(host.admin().capacityHistory("secured-" + csrf))
                .extracting(CapacityChange::changedBy)
                .containsExactly("operator");
    }

    /** Otherwise the others would show nothing. */
    @ParameterizedTest
    @ValueSource(strings = {"session", "cookie", "reactive"})
    void aChangeWithoutTheTokenIsRefused(String csrf) {
        OrdersHost host = host(csrf);
        String credentials = Base64.getEncoder().encodeToString("operator:secret".getBytes(StandardCharsets.UTF_8));
        HttpRequest change = HttpRequest.newBuilder(
                        URI.create("http://localhost:%d/actuator/semaphores".formatted(host.port())))
                .header("Authorization", "Basic " + credentials)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"name\": \"orders\", \"capacity\": \"7\", \"reason\": \"a test\"}"))
                .build();

        assertThat(Http.send(change).status()).isEqualTo(403);
        assertThat(host.admin().find("orders").orElseThrow().capacity()).isEqualTo(1);
    }

    @Test
    void tellsAUserWhoMayOnlyLook() {
        session.admin().create("forbidden", 2);
        signIn(session, "viewer", "#/semaphore/forbidden");

        changeCapacity();

        browser.awaitText("dialog .failure", "You are not allowed to do this");
        assertThat(browser.accessibilityViolations()).isEmpty();
        browser.click("dialog", "Cancel");
        assertThat(session.admin().find("forbidden").orElseThrow().capacity()).isEqualTo(2);
    }

    @Test
    void tellsAUserWhoseSessionHasEnded() {
        signIn(session, "viewer", "");
        browser.awaitText("#main", "orders");

        browser.driver().manage().deleteAllCookies();

        browser.awaitText("#problem", "You are not signed in, or your session has ended")
                .awaitText("#freshness", "Stale");
    }

    private static OrdersHost host(String csrf) {
        return Map.of("session", session, "cookie", cookie, "reactive", reactive)
                .get(csrf);
    }

    private static void changeCapacity() {
        browser.click("#main", "Change capacity").type("#capacity", "7").type("#reason", "a test");
        browser.click("dialog", "Change capacity");
    }

    private static void signIn(OrdersHost host, String user, String hash) {
        String page = "http://localhost:%d/actuator/semaphores".formatted(host.port());
        browser.open(page).type("[name=username]", user).type("[name=password]", "secret");
        browser.find("[type=submit]").click();
        browser.find("#freshness");
        browser.open(page + hash);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebSecurity
    static class Security {

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(
                    User.withUsername("viewer")
                            .password("{noop}secret")
                            .roles("VIEWER")
                            .build(),
                    User.withUsername("operator")
                            .password("{noop}secret")
                            .roles("OPERATOR")
                            .build());
        }

        static HttpSecurity secured(HttpSecurity http) {
            return http.authorizeHttpRequests(requests -> requests.requestMatchers(HttpMethod.GET, "/actuator/**")
                            .authenticated()
                            .requestMatchers("/actuator/**")
                            .hasRole("OPERATOR")
                            .anyRequest()
                            .authenticated())
                    .formLogin(Customizer.withDefaults())
                    .httpBasic(Customizer.withDefaults());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TokenInSession {

        @Bean
        SecurityFilterChain chain(HttpSecurity http) {
            return Security.secured(http).build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TokenInCookie {

        @Bean
        SecurityFilterChain chain(HttpSecurity http) {
            return Security.secured(http)
                    .csrf(csrf -> csrf.csrfTokenRepository(CookieCsrfTokenRepository.withHttpOnlyFalse()))
                    .build();
        }
    }

    /** As the document of the page says. */
    @Configuration(proxyBeanMethods = false)
    @EnableWebFluxSecurity
    static class ReactiveSecurity {

        @Bean
        MapReactiveUserDetailsService users() {
            return new MapReactiveUserDetailsService(User.withUsername("operator")
                    .password("{noop}secret")
                    .roles("OPERATOR")
                    .build());
        }

        @Bean
        SecurityWebFilterChain chain(ServerHttpSecurity http) {
            return http.authorizeExchange(requests -> requests.anyExchange().hasRole("OPERATOR"))
                    .formLogin(Customizer.withDefaults())
                    .httpBasic(Customizer.withDefaults())
                    .csrf(csrf -> csrf.csrfTokenRepository(CookieServerCsrfTokenRepository.withHttpOnlyFalse())
                            .csrfTokenRequestHandler(new ServerCsrfTokenRequestAttributeHandler()))
                    .build();
        }

        @Bean
        WebFilter csrfCookie() {
            return (exchange, chain) -> {
                Mono<CsrfToken> token = exchange.getAttributeOrDefault(CsrfToken.class.getName(), Mono.empty());
                return token.then(chain.filter(exchange));
            };
        }
    }
}
