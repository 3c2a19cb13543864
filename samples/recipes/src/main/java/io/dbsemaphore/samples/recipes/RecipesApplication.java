package io.dbsemaphore.samples.recipes;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;

/** An application with one recipe, which the property {@code recipe} names. */
@SpringBootApplication(scanBasePackages = "io.dbsemaphore.samples.recipes.${recipe}")
@EnableAsync
@EnableScheduling
public class RecipesApplication {}
