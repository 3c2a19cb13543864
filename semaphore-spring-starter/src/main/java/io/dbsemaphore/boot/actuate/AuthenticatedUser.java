package io.dbsemaphore.boot.actuate;

import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.util.ClassUtils;

/** Who has signed in. */
final class AuthenticatedUser {

    private static final boolean SPRING_SECURITY = ClassUtils.isPresent(
            "org.springframework.security.core.Authentication", AuthenticatedUser.class.getClassLoader());

    private AuthenticatedUser() {}

    /** The user of a request; null if nobody has signed in. */
    static @Nullable Principal of(SecurityContext context) {
        Principal principal = context.getPrincipal();
        return principal == null || (SPRING_SECURITY && Security.isAnonymous(principal)) ? null : principal;
    }

    /** Loaded only where the application has Spring Security, which also has a principal for those who have not signed in. */
    private static final class Security {

        private static boolean isAnonymous(Principal principal) {
            return principal instanceof Authentication authentication
                    && (authentication instanceof AnonymousAuthenticationToken || !authentication.isAuthenticated());
        }
    }
}
