package io.dbsemaphore.rewrite;

import static org.openrewrite.java.Assertions.java;
import static org.openrewrite.java.Assertions.srcMainJava;

import org.junit.jupiter.api.Test;
import org.openrewrite.DocumentExample;
import org.openrewrite.Recipe;

/** The code is like the samples of https://docs.spring.io/spring-framework/reference/core/resilience.html. */
class ReplaceConcurrencyLimitTests implements RecipeTest {

    @Override
    public Recipe recipe() {
        return new ReplaceConcurrencyLimit();
    }

    @Test
    @DocumentExample
    void limitsOfMethodsAreCapacities() {
        rewriteRun(srcMainJava(java("""
            import org.springframework.resilience.annotation.ConcurrencyLimit;

            class Notifications {

                @ConcurrencyLimit(10)
                public void send() {}

                @ConcurrencyLimit(limitString = "${mail.limit}", policy = ConcurrencyLimit.ThrottlePolicy.REJECT)
                public void sendIfPossible() {}
            }
            """, compiling("""
                import io.dbsemaphore.annotation.WithPermits;

                class Notifications {

                    @WithPermits(names = "Notifications.send", waitTime = "365d")
                    public void send() {}

                    @WithPermits(names = "Notifications.sendIfPossible")
                    public void sendIfPossible() {}
                }
                """))), newSettings("""
                                semaphore:
                                  semaphores:
                                    "[Notifications.send]":
                                      capacity: 10
                                    "[Notifications.sendIfPossible]":
                                      capacity: ${mail.limit}
                                """));
    }

    @Test
    void theMethodsOfATypeShareItsLimit() {
        rewriteRun(srcMainJava(java("""
            import org.springframework.resilience.annotation.ConcurrencyLimit;

            @ConcurrencyLimit(limit = 1)
            class Notifications {

                public void send() {}
            }
            """, compiling("""
                import io.dbsemaphore.annotation.WithPermits;

                @WithPermits(names = "Notifications", waitTime = "365d")
                class Notifications {

                    public void send() {}
                }
                """))), newSettings("""
                                semaphore:
                                  semaphores:
                                    Notifications:
                                      capacity: 1
                                """));
    }

    @Test
    void whatHasNoCounterpartStays() {
        rewriteRun(srcMainJava(java("""
            import java.util.concurrent.CompletableFuture;
            import org.springframework.resilience.annotation.ConcurrencyLimit;

            class Notifications {

                static final int LIMIT = 3;

                @ConcurrencyLimit(-1)
                public void send() {}

                @ConcurrencyLimit(LIMIT)
                public void receive() {}

                @ConcurrencyLimit(10)
                public CompletableFuture<Void> sendLater() {
                    return new CompletableFuture<>();
                }

                @ConcurrencyLimit(10)
                public void print(String text) {}

                @ConcurrencyLimit(10)
                public void print(int number) {}
            }

            @ConcurrencyLimit(10)
            interface Printer {}

            @ConcurrencyLimit(10)
            @interface Limited {}
            """, compiling("""
                import java.util.concurrent.CompletableFuture;
                import org.springframework.resilience.annotation.ConcurrencyLimit;

                class Notifications {

                    static final int LIMIT = 3;

                    // TODO DB Semaphore: the limit of @ConcurrencyLimit is neither a positive number nor a placeholder; replace it by @WithPermits, and configure the capacity
                    @ConcurrencyLimit(-1)
                    public void send() {}

                    // TODO DB Semaphore: the limit of @ConcurrencyLimit is neither a positive number nor a placeholder; replace it by @WithPermits, and configure the capacity
                    @ConcurrencyLimit(LIMIT)
                    public void receive() {}

                    // TODO DB Semaphore: @ConcurrencyLimit counts a call until the method returns, @WithPermits until what it returns completes; replace it where that is meant
                    @ConcurrencyLimit(10)
                    public CompletableFuture<Void> sendLater() {
                        return new CompletableFuture<>();
                    }

                    // TODO DB Semaphore: several limits would be the semaphore 'Notifications.print'; replace @ConcurrencyLimit by @WithPermits with a name of its own
                    @ConcurrencyLimit(10)
                    public void print(String text) {}

                    // TODO DB Semaphore: several limits would be the semaphore 'Notifications.print'; replace @ConcurrencyLimit by @WithPermits with a name of its own
                    @ConcurrencyLimit(10)
                    public void print(int number) {}
                }

                // TODO DB Semaphore: each type has a limit of its own by @ConcurrencyLimit; write @WithPermits with a name of its own on each
                @ConcurrencyLimit(10)
                interface Printer {}

                // TODO DB Semaphore: each type has a limit of its own by @ConcurrencyLimit; write @WithPermits with a name of its own on each
                @ConcurrencyLimit(10)
                @interface Limited {}
                """))));
    }
}
