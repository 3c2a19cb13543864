package io.dbsemaphore.samples.recipes.llm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsExceedCapacityException;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.samples.recipes.Instances;
import io.dbsemaphore.testing.Concurrently;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.web.client.RestClient;

/** The provider counts the calls and their tokens, and refuses too many. Two instances never let it. */
class LlmRecipeIntegrationTests {

    private static final int CALLERS = 8;
    private static final int CALLS_OF_ONE = 5;

    @Test
    void staysBelowTheLimitsOfTheProviderAndSendsNothingWithoutPermits() throws Exception {
        try (Provider provider = new Provider();
                Instances instances = Instances.of("llm", "llm.url=" + provider.url())) {
            provider.worksAs(instances.work());

            fourSmallCallsAtATime(instances);
            assertThat(provider.peakOfCalls()).isEqualTo(4);
            twoLargeCallsAtATime(instances);
            assertThat(provider.peakOfTokens()).isBetween(1800, 2000);
            callsOfAllSizes(instances);
            assertThat(provider.received()).isEqualTo(8 + 4 + CALLERS * CALLS_OF_ONE);
            assertThat(provider.peakOfCalls()).isEqualTo(4);
            assertThat(provider.peakOfTokens()).isBetween(1800, 2000);
            assertThat(provider.tooMany()).as("answers with 429").isZero();

            int before = provider.received();
            sendsNothingWhenRefused(instances, provider);
            sendsNothingWithoutTheDatabase(instances, provider);
            assertThat(provider.received()).isEqualTo(before);
        }
    }

    private static void fourSmallCallsAtATime(Instances instances) throws Exception {
        CountedWork work = instances.work();
        List<Future<String>> small = call(instances, 8, "small", 100);
        work.awaitFull("small", 4, () -> instances.waiting("llm-calls") == 4);
        work.end("small");
        awaitAnswers(small);
    }

    private static void twoLargeCallsAtATime(Instances instances) throws Exception {
        CountedWork work = instances.work();
        List<Future<String>> large = call(instances, 4, "large", 900);
        work.awaitFull("large", 2, () -> instances.waiting("llm-tokens") == 2);
        work.end("large");
        awaitAnswers(large);
    }

    private static void callsOfAllSizes(Instances instances) {
        instances.work().end("any");
        Concurrently.run(CALLERS, Instances.SOON, caller -> {
            for (int i = 1; i <= CALLS_OF_ONE; i++) {
                complete(instances, caller, "any:" + caller, (caller + 1) * i * 40);
            }
        });
    }

    private static void sendsNothingWhenRefused(Instances instances, Provider provider) {
        LanguageModel impatient = impatient(instances, 0, provider);
        try (PermitGrant all = instances
                .bean(1, SemaphoreTemplate.class)
                .acquire(AcquireRequest.of("llm-tokens").exclusive())) {
            assertThatExceptionOfType(PermitsUnavailableException.class)
                    .isThrownBy(() -> impatient.complete("refused", 1));
            assertThat(all.isHeld()).isTrue();
        }
        assertThatExceptionOfType(PermitsExceedCapacityException.class)
                .isThrownBy(() -> impatient.complete("larger than the limit", 2000));
    }

    private static void sendsNothingWithoutTheDatabase(Instances instances, Provider provider) {
        instances.database().close(); // drops it
        assertThatThrownBy(() -> impatient(instances, 1, provider).complete("without the database", 1))
                .isNotInstanceOf(PermitsUnavailableException.class);
    }

    private static LanguageModel impatient(Instances instances, int instance, Provider provider) {
        return new LanguageModel(
                instances.bean(instance, SemaphoreTemplate.class), RestClient.builder(), provider.url(), Duration.ZERO);
    }

    private static List<Future<String>> call(Instances instances, int number, String kind, int tokens) {
        return IntStream.range(0, number)
                .mapToObj(i -> Concurrently.async(() -> complete(instances, i, kind + ":" + i, tokens)))
                .toList();
    }

    private static String complete(Instances instances, int caller, String prompt, int tokens) {
        return instances.bean(caller % 2, LanguageModel.class).complete(prompt, tokens);
    }

    private static void awaitAnswers(List<Future<String>> calls) throws Exception {
        for (Future<String> call : calls) {
            assertThat(Concurrently.get(call, Instances.SOON)).isEqualTo("done");
        }
    }
}
