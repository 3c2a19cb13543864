package io.dbsemaphore.samples.recipes;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;

/** An application with the recipes whose packages the property {@code recipes} names. */
@SpringBootApplication(scanBasePackages = "${recipes}")
@EnableAsync
@EnableScheduling
public class RecipesApplication {}
