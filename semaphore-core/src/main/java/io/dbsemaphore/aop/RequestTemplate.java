package io.dbsemaphore.aop;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.admin.SemaphoreName;
import io.dbsemaphore.annotation.WithPermits;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.SystemPropertyUtils;

/**
 * The request of an annotation. Its constructor resolves placeholders and durations, and checks all attributes. Expressions
 * are evaluated for each call. A request without expressions is created once.
 */
final class RequestTemplate {

    private static final String NAMES_ONCE = "Name each semaphore once; permits gives the number of permits";

    private final AnnotatedMethod annotated;
    private final BeanFactory beanFactory;
    private final List<TextTemplate> names;
    private final int[] permits;
    private final Optional<Duration> waitTime;
    private final Optional<Duration> headStart;
    private final Optional<Duration> ttl;
    private final Optional<Duration> maxHold;
    private final @Nullable TextTemplate share;
    private final @Nullable TextTemplate owner;
    private final @Nullable TextTemplate label;
    private final @Nullable AcquireRequest constant;

    /** @throws IllegalStateException if no call of the method could succeed */
    RequestTemplate(AnnotatedMethod annotated, BeanFactory beanFactory) {
        this.annotated = annotated;
        this.beanFactory = beanFactory;
        WithPermits annotation = annotated.annotation();
        this.waitTime = duration("waitTime", annotation.waitTime(), Duration.ZERO);
        this.headStart = duration("headStart", annotation.headStart(), Duration.ZERO);
        this.permits = annotation.permits();
        requireValidPermits();
        this.names = names();
        this.ttl = duration("ttl", annotation.ttl(), AcquireRequest.MIN_TTL);
        this.maxHold = duration("maxHold", annotation.maxHold(), AcquireRequest.MIN_TTL);
        this.share = optional("share", annotation.share(), SemaphoreName::requireValidShare);
        this.owner = key("owner", annotation.owner());
        this.label = key("label", annotation.label());
        Stream<@Nullable TextTemplate> texts = Stream.concat(names.stream(), Stream.of(share, owner, label));
        this.constant = texts.allMatch(text -> text == null || text.isLiteral())
                ? create(new StandardEvaluationContext())
                : null;
    }

    /** The names without expressions. */
    Stream<String> literalNames() {
        return names.stream().filter(TextTemplate::isLiteral).map(TextTemplate::text);
    }

    /** Whether the annotation has a wait time. */
    boolean waits() {
        return waitTime.filter(time -> !time.isZero()).isPresent();
    }

    /** @throws IllegalArgumentException if an expression fails, or evaluates to an invalid value */
    AcquireRequest create(MethodInvocation invocation) {
        if (constant != null) {
            return constant;
        }
        Method method = annotated.method();
        MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(
                new Root(
                        method.getName(),
                        method,
                        invocation.getArguments(),
                        invocation.getThis(),
                        annotated.targetClass()),
                method,
                invocation.getArguments(),
                DefaultParameterNameDiscoverer.getSharedInstance());
        context.setBeanResolver(new BeanFactoryResolver(beanFactory));
        return create(context);
    }

    private AcquireRequest create(EvaluationContext context) {
        AcquireRequest request = AcquireRequest.of(names.get(0).evaluate(context), permits[0]);
        for (int i = 1; i < names.size(); i++) {
            String name = names.get(i).evaluate(context);
            if (request.permits().containsKey(name)) {
                throw names.get(i).refuse("repeats '" + name + "'. " + NAMES_ONCE, null);
            }
            request = request.withPermits(name, permits[permits.length == 1 ? 0 : i]);
        }
        WithPermits annotation = annotated.annotation();
        request = request.withKeepAlive(annotation.keepAlive()).withReleaseAtShutdown(annotation.releaseAtShutdown());
        request = annotation.exclusive() ? request.exclusive() : request;
        request = waitTime.map(request::withWaitTime).orElse(request);
        request = headStart.map(request::withHeadStart).orElse(request);
        request = ttl.map(request::withTtl).orElse(request);
        request = maxHold.map(request::withMaxHold).orElse(request);
        request = share == null ? request : request.withShare(share.evaluate(context));
        request = owner == null ? request : request.withOwner(owner.evaluate(context));
        return request.withLabel(label == null ? annotated.label() : label.evaluate(context));
    }

    private List<TextTemplate> names() {
        List<TextTemplate> templates = new ArrayList<>();
        Set<String> literals = new HashSet<>();
        for (String given : annotated.annotation().names()) {
            TextTemplate name =
                    TextTemplate.parse(annotated, "names", resolve("names", given), SemaphoreName::requireValid);
            if (name.isLiteral() && !literals.add(name.text())) {
                throw annotated.refuse("names", name.text(), "is given twice. " + NAMES_ONCE);
            }
            templates.add(name);
        }
        return templates;
    }

    private void requireValidPermits() {
        int needed = annotated.annotation().names().length;
        if (needed == 0) {
            throw annotated.refuse("it names no semaphore. Name at least one: @WithPermits(\"backup\")");
        }
        if (permits.length != 1 && permits.length != needed) {
            throw annotated.refuse(
                    "permits",
                    Arrays.stream(permits).boxed().toList(),
                    "has %d values for %d names. Give one for all names, or one for each"
                            .formatted(permits.length, needed));
        }
        for (int count : permits) {
            if (count < 1) {
                throw annotated.refuse("permits", count, "is not a valid number of permits. It must be at least 1");
            }
            if (count != 1 && annotated.annotation().exclusive()) {
                throw annotated.refuse(
                        "permits",
                        count,
                        "contradicts exclusive = true, which takes the whole capacity. Leave one out");
            }
        }
    }

    private @Nullable TextTemplate key(String attribute, String given) {
        return optional(attribute, given, key -> SemaphoreName.requireValidKey(attribute, key));
    }

    private @Nullable TextTemplate optional(String attribute, String given, Consumer<String> check) {
        String text = resolve(attribute, given);
        return text.isEmpty() ? null : TextTemplate.parse(annotated, attribute, text, check);
    }

    private Optional<Duration> duration(String attribute, String given, Duration least) {
        String text = resolve(attribute, given);
        if (text.isEmpty()) {
            return Optional.empty();
        }
        // Spring parses a number without a unit as milliseconds, and a sign without a number as zero
        if (text.chars().noneMatch(Character::isDigit) || text.chars().noneMatch(Character::isLetter)) {
            throw annotated.refuse(attribute, text, "is not a duration. Write a number and its unit, as 30s or PT30S");
        }
        Duration duration;
        try {
            duration = DurationFormatterUtils.detectAndParse(text);
        } catch (IllegalArgumentException unknown) {
            throw annotated.refuse(attribute, text, "is not a duration. Write it as 30s or PT30S", unknown);
        }
        if (duration.compareTo(least) < 0) {
            String problem = duration.isNegative() ? "is negative" : "is too short";
            throw annotated.refuse(attribute, text, problem + ". Give a duration of at least " + least);
        }
        return Optional.of(duration);
    }

    /** Resolves the placeholders of a text. */
    private String resolve(String attribute, String text) {
        String resolved = text;
        IllegalArgumentException unresolvable = null;
        if (beanFactory instanceof ConfigurableBeanFactory configurable) {
            try {
                resolved = configurable.resolveEmbeddedValue(text);
            } catch (IllegalArgumentException failure) {
                unresolvable = failure;
            }
        }
        // A context without a PropertySourcesPlaceholderConfigurer leaves unknown placeholders as they are
        if (unresolvable != null || resolved == null || resolved.contains(SystemPropertyUtils.PLACEHOLDER_PREFIX)) {
            throw annotated.refuse(
                    attribute,
                    text,
                    "has a placeholder without a value. Define the property, or give a default",
                    unresolvable);
        }
        return resolved;
    }

    /** The root object ({@code #root}) of expressions. */
    @SuppressWarnings("ArrayRecordComponent") // the arguments of the call, for the expressions
    private record Root(
            String methodName,
            Method method,
            @Nullable Object[] args,
            @Nullable Object target,
            Class<?> targetClass) {}
}
