package io.dbsemaphore.samples.recipes.llm;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/** What has no permits is not sent: neither after a refusal, nor while the database is away. */
@Component
class LanguageModel {

    private final SemaphoreTemplate semaphores;
    private final RestClient provider;
    private final Duration waitTime;

    LanguageModel(
            SemaphoreTemplate semaphores,
            RestClient.Builder builder,
            @Value("${llm.url}") String url,
            @Value("${llm.wait-time}") Duration waitTime) {
        this.semaphores = semaphores;
        this.provider = builder.baseUrl(url).build();
        this.waitTime = waitTime;
    }

    /** Completes a prompt, with so many tokens at most. */
    String complete(String prompt, int maxTokens) {
        AcquireRequest call = AcquireRequest.of("llm-calls")
                .withPermits("llm-tokens", estimate(prompt) + maxTokens)
                .withWaitTime(waitTime);
        return semaphores.execute(call, grant -> send(prompt, maxTokens));
    }

    private String send(String prompt, int maxTokens) {
        String answer = provider.post()
                .body(Map.of("prompt", prompt, "max_tokens", maxTokens))
                .retrieve()
                .body(String.class);
        return Objects.requireNonNull(answer, "The provider has answered nothing");
    }

    /** Rather too many: English has about four characters for each token. */
    private static int estimate(String prompt) {
        return prompt.length() / 3 + 1;
    }
}
