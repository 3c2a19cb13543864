package io.dbsemaphore.samples.recipes;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.testing.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Two instances of an application with one recipe or several, on a database of their own. */
public final class Instances implements AutoCloseable {

    /** How long a test waits for what must happen. */
    public static final Duration SOON = Duration.ofSeconds(60);

    private static final String PACKAGE = Instances.class.getPackageName() + ".";

    private final TestDatabase.Schema database = TestDatabase.create();
    private final CountedWork work = new CountedWork();
    private final AtomicInteger refused = new AtomicInteger();
    private final List<ConfigurableApplicationContext> contexts = new ArrayList<>();

    private Instances() {}

    /**
     * Starts them.
     *
     * @param recipes the last parts of the packages of the recipes, with commas in between; they are the profiles with the
     *     properties of the recipes, too
     * @param properties further properties, {@code name=value}
     */
    public static Instances of(String recipes, String... properties) {
        Instances instances = new Instances();
        try {
            instances.start(recipes, properties);
            instances.start(recipes, properties);
            return instances;
        } catch (RuntimeException | Error failure) {
            instances.close();
            throw failure;
        }
    }

    /** A bean of the first instance (0) or the second one (1). */
    public <T> T bean(int instance, Class<T> type) {
        return contexts.get(instance).getBean(type);
    }

    /** The port of the web server of an instance. */
    public int port(int instance) {
        return contexts.get(instance).getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    /** The work of both. */
    public CountedWork work() {
        return work;
    }

    /** How many acquires were refused in both. */
    public int refused() {
        return refused.get();
    }

    /** How many callers of both wait for a semaphore. */
    public long waiting(String semaphore) {
        return bean(0, SemaphoreAdmin.class)
                .find(semaphore)
                .map(SemaphoreStatus::waiting)
                .orElse(0L);
    }

    /** Their database. */
    public TestDatabase.Schema database() {
        return database;
    }

    /** Stops one of them. */
    public void stop(int instance) {
        contexts.get(instance).close();
    }

    @Override
    public void close() {
        work.endAll();
        contexts.forEach(ConfigurableApplicationContext::close);
        database.close();
    }

    private void start(String recipes, String... properties) {
        String name = "instance-" + contexts.size();
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("recipes", PACKAGE + recipes.replace(",", "," + PACKAGE));
        settings.put("spring.profiles.active", recipes);
        settings.put("spring.datasource.url", database.jdbcUrl());
        settings.put("spring.datasource.username", database.username());
        settings.put("spring.datasource.password", database.password());
        settings.put("spring.main.banner-mode", "off");
        settings.put("logging.level.root", System.getProperty("recipe.log", "warn"));
        settings.put("spring.main.log-startup-info", "false");
        settings.put("spring.main.web-application-type", "none");
        settings.put("server.port", "0");
        settings.put("db-scheduler.enabled", String.valueOf(recipes.equals("dbscheduler")));
        settings.put("semaphore.jdbc.initialize-schema", "always");
        settings.put("semaphore.maintenance.enabled", "false"); // it may be refused, too
        settings.put("semaphore.owner", name);
        for (String owner : new String[] {"batch", "quartz"}) { // their scripts drop the tables
            boolean create = recipes.equals(owner) && contexts.isEmpty();
            settings.put("spring." + owner + ".jdbc.initialize-schema", create ? "always" : "never");
        }
        for (String property : properties) {
            String[] parts = property.split("=", 2);
            settings.put(parts[0], parts[1]);
        }
        contexts.add(new SpringApplicationBuilder(RecipesApplication.class)
                .registerShutdownHook(false)
                .initializers(context -> {
                    context.getBeanFactory().registerSingleton("work", (Work) item -> work.run(name, item));
                    context.getBeanFactory().registerSingleton("refusals", new Refusals(name));
                })
                .run(settings.entrySet().stream()
                        .map(each -> "--" + each.getKey() + "=" + each.getValue())
                        .toArray(String[]::new)));
    }

    private final class Refusals implements SemaphoreListener {

        private final String instance;

        Refusals(String instance) {
            this.instance = instance;
        }

        @Override
        public void refused(Refused event) {
            refused.incrementAndGet();
            CountedWork.print(
                    instance,
                    "refused: " + String.join(", ", event.request().permits().keySet()));
        }
    }
}
