package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreName;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.aop.WithPermitsAdvisor;
import io.dbsemaphore.boot.autoconfigure.SemaphoreProperties.Declared;
import io.dbsemaphore.config.SemaphoreSettings;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;

/**
 * Creates the semaphores that the properties declare. By default, existing semaphores keep their capacity, including those of patterns.
 *
 * <p>Refuses keys that binding changes or omits, and entries without a capacity. Without brackets, binding drops all characters except
 * letters, digits, dashes and dots: {@code tenant:a} would create a semaphore {@code tenanta}. An entry lacks a capacity if the property
 * is missing or misspelled, or if the name contains a dot, after which binding expects a property.
 */
final class DeclaredSemaphores {

    /** The operator in the audit if the configuration changes a capacity. */
    static final String CONFIGURATION = "configuration";

    private static final String SEMAPHORES = "semaphore.semaphores";
    private static final String PATTERNS = "semaphore.patterns";
    private static final Pattern KEPT = Pattern.compile("[A-Za-z0-9.-]*");

    /** The property of a weight, without the root. The groups are the semaphore and the share. */
    private static final Pattern WEIGHT = Pattern.compile("\\.?(\\[.*?\\]|[^\\[\\]]+?)\\.weights(?:\\.|(?=\\[))(.+)");

    private static final Logger log = LoggerFactory.getLogger(DeclaredSemaphores.class);

    private final SemaphoreProperties properties;
    private final String owner;
    private boolean created;

    /** @param owner the name of this application instance, for the audit */
    DeclaredSemaphores(SemaphoreProperties properties, String owner) {
        this.properties = properties;
        this.owner = owner;
    }

    /** Creates the semaphores, then settles those of patterns. In this order: a declared semaphore no longer belongs to a pattern. */
    void open(SemaphoreAdmin admin) {
        createBy(admin);
        properties.patterns().forEach((pattern, declared) -> settleKeys(admin, pattern, declared.capacity()));
    }

    /** Creates the semaphores, once for each start. */
    synchronized void createBy(SemaphoreAdmin admin) {
        if (!created) {
            properties.semaphores().forEach((name, declared) -> declare(admin, name, declared.capacity()));
            created = true;
        }
    }

    /** Makes the next start create the semaphores again: the tables may have been emptied meanwhile. */
    synchronized void stop() {
        created = false;
    }

    private void declare(SemaphoreAdmin admin, String name, int capacity) {
        if (admin.create(name, capacity)) {
            log.info("Created semaphore '{}' with capacity {}", name, capacity);
            return;
        }
        admin.find(name)
                .map(SemaphoreStatus::capacity)
                .filter(existing -> existing != capacity)
                .ifPresent(existing -> settle(admin, name, existing, capacity));
    }

    private void settle(SemaphoreAdmin admin, String name, int existing, int configured) {
        if (properties.capacityAtStart() == SemaphoreProperties.CapacityAtStart.APPLY) {
            admin.setCapacity(
                    name,
                    configured,
                    CONFIGURATION,
                    "%s.capacity at the start of %s".formatted(SemaphoreProperties.property(name), owner));
            log.info("Semaphore '{}' has capacity {} instead of {}, as configured", name, configured, existing);
        } else {
            log.warn(
                    "Semaphore '{}' keeps its capacity {} instead of the configured {}: one of the two was changed later."
                            + " Change it with SemaphoreAdmin.setCapacity or the endpoint, or set"
                            + " semaphore.capacity-at-start=apply",
                    name,
                    existing,
                    configured);
        }
    }

    private void settleKeys(SemaphoreAdmin admin, String pattern, int configured) {
        if (properties.capacityAtStart() == SemaphoreProperties.CapacityAtStart.APPLY) {
            int changed = admin.setCapacityOfPattern(
                    pattern,
                    configured,
                    CONFIGURATION,
                    "%s.capacity at the start of %s".formatted(SemaphoreProperties.property(PATTERNS, pattern), owner));
            if (changed > 0) {
                log.info(
                        "{} semaphore(s) of the pattern '{}' have capacity {}, as configured",
                        changed,
                        pattern,
                        configured);
            }
            return;
        }
        SemaphoreAdmin.OtherCapacities others = admin.otherCapacities(pattern, configured);
        if (others.count() > 0) {
            log.warn(
                    "{} semaphore(s) of the pattern '{}' keep their capacity instead of the configured {}, such as {}:"
                            + " they or the configuration were changed later. Change them with"
                            + " SemaphoreAdmin.setCapacityOfPattern, or set semaphore.capacity-at-start=apply",
                    others.count(),
                    pattern,
                    configured,
                    others.examples());
        }
    }

    /**
     * Refuses names in annotations that no call can acquire, after all singletons have been created. Without this check a
     * misspelled name would not fail before the first call. Names with expressions are known only when the method is called.
     *
     * @throws SemaphoreConfigurationException for the first unknown name
     */
    void checkAnnotatedNames(SemaphoreAdmin admin, SemaphoreSettings settings, Stream<WithPermitsAdvisor> advisors) {
        if (properties.aop().allowUnknownNames()) {
            return;
        }
        SortedMap<String, String> methodsByName = new TreeMap<>();
        advisors.forEach(advisor -> methodsByName.putAll(advisor.literalNames()));
        methodsByName.entrySet().stream()
                .filter(named -> !properties.semaphores().containsKey(named.getKey()))
                .filter(named -> settings.patternOf(named.getKey()).isEmpty())
                .filter(named -> admin.find(named.getKey()).isEmpty())
                .findFirst()
                .ifPresent(unknown -> refuse(unknown, admin));
    }

    private void refuse(Map.Entry<String, String> unknown, SemaphoreAdmin admin) {
        String name = unknown.getKey();
        Set<String> existing = new TreeSet<>(properties.semaphores().keySet());
        admin.list().forEach(semaphore -> existing.add(semaphore.name()));
        String meant = SemaphoreName.nearest(name, existing)
                .map(" Did you mean '%s'?"::formatted)
                .orElse("");
        throw new SemaphoreConfigurationException("""
                @WithPermits on %s names the semaphore '%s', which is not declared, does not match a pattern and is not \
                in the database: each call would fail.%s""".formatted(unknown.getValue(), name, meant), """
                Do one of these:
                    - Correct the name. Names are compared byte for byte; declared are %s, and the patterns %s
                    - Declare it: %s.capacity
                    - Create it in the database before the application starts
                    - If the application creates it after its start, set semaphore.aop.allow-unknown-names=true""".formatted(
                properties.semaphores().keySet(), properties.patterns().keySet(), SemaphoreProperties.property(name)));
    }

    /** @throws SemaphoreConfigurationException for the first key that binding changes or omits */
    static void checkKeys(ConfigurableEnvironment environment) {
        for (String root : List.of(SEMAPHORES, PATTERNS)) {
            propertyNames(environment).forEach(name -> refuseUnbracketed(name, root));
            refuseUnbound(Binder.get(environment), root);
        }
    }

    static Stream<String> propertyNames(ConfigurableEnvironment environment) {
        return environment.getPropertySources().stream()
                .filter(EnumerablePropertySource.class::isInstance)
                .flatMap(source -> Stream.of(((EnumerablePropertySource<?>) source).getPropertyNames()));
    }

    private static void refuseUnbracketed(String name, String root) {
        Matcher weight = WEIGHT.matcher(name.startsWith(root) ? name.substring(root.length()) : "");
        if (weight.matches()) {
            refuseUnbracketedShare(name, weight.group(2));
        }
        if (!name.startsWith(root + ".")) {
            return;
        }
        String key = weight.matches()
                ? weight.group(1)
                : name.substring(root.length() + 1, Math.max(root.length() + 1, name.lastIndexOf('.')));
        if (!key.startsWith("[") && !KEPT.matcher(key).matches()) {
            throw new SemaphoreConfigurationException(
                    "%s.%s contains characters that are lost unless the key is in brackets.".formatted(root, key),
                    "Write %s.[%s].capacity, or in YAML \"[%s]\" with the quotes.".formatted(root, key, key));
        }
    }

    private static void refuseUnbracketedShare(String name, String share) {
        if (!share.startsWith("[") && !KEPT.matcher(share).matches()) {
            throw new SemaphoreConfigurationException(
                    "%s contains characters that are lost unless the share is in brackets.".formatted(name),
                    "Write %s[%s], or in YAML \"[%s]\" with the quotes."
                            .formatted(name.substring(0, name.length() - share.length()), share, share));
        }
    }

    private static void refuseUnbound(Binder binder, String root) {
        Map<String, Declared> bound =
                binder.bind(root, Bindable.mapOf(String.class, Declared.class)).orElse(Map.of());
        Map<String, Object> configured =
                binder.bind(root, Bindable.mapOf(String.class, Object.class)).orElse(Map.of());
        configured.forEach((name, value) -> {
            if (name.startsWith("[") && name.endsWith("]")) {
                throw new SemaphoreConfigurationException(
                        "The key %s of %s is not in quotes, so that its brackets belong to the name."
                                .formatted(name, root),
                        "Write \"%s\" in YAML, with the quotes, or %s.%s.capacity.".formatted(name, root, name));
            }
            Declared declared = bound.get(name);
            if (declared == null || !declared.hasCapacity()) {
                throw new SemaphoreConfigurationException(
                        SemaphoreProperties.property(root, name) + ".capacity is missing.",
                        "Set it. If this is only the beginning of a name, put the whole name in brackets: %s.[%s.example].capacity"
                                .formatted(root, name));
            }
            if (declared.weights() != null) {
                declared.weights().keySet().forEach(share -> refuseUnquoted(share, root, name));
            }
            if (value instanceof Map<?, ?> settings) {
                settings.forEach((key, setting) -> {
                    if (!"weights".equals(key)) { // a share may be called capacity
                        refuseDotted(root, name + "." + key, setting);
                    }
                });
            }
        });
    }

    private static void refuseUnquoted(String share, String root, String name) {
        if (share.startsWith("[") && share.endsWith("]")) {
            throw new SemaphoreConfigurationException(
                    "The share %s of %s.weights is not in quotes, so that its brackets belong to the share."
                            .formatted(share, SemaphoreProperties.property(root, name)),
                    "Write \"%s\" in YAML, with the quotes.".formatted(share));
        }
    }

    private static void refuseDotted(String root, String name, Object setting) {
        if (!(setting instanceof Map<?, ?> settings)) {
            return;
        }
        if (settings.containsKey("capacity")) { // an environment variable such as …_WAIT_TIME has none
            throw new SemaphoreConfigurationException(
                    "%s.%s is not a setting, so that a semaphore of this name would not be created."
                            .formatted(root, name),
                    "Put a name with a dot in brackets: %s.[%s].capacity, or in YAML \"[%s]\" with the quotes."
                            .formatted(root, name, name));
        }
        settings.forEach((key, nested) -> refuseDotted(root, name + "." + key, nested));
    }
}
