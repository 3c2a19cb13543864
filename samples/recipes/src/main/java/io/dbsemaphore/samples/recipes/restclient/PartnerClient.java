package io.dbsemaphore.samples.recipes.restclient;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.client.RestClient;

@Configuration
class PartnerClient {

    @Bean
    RestClient partner(RestClient.Builder builder, PartnerLimit limit, @Value("${partner.url}") String url) {
        return builder.baseUrl(url).requestInterceptor(limit).build();
    }
}
