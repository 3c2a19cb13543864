package io.dbsemaphore.aop;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreName;
import io.dbsemaphore.annotation.WithPermits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/** Parses an annotation and rejects invalid attributes. */
final class WithPermitsParser {

    static final String NAMES_ONCE = "Name each semaphore once; permits gives the number of permits";

    private static final Duration SHORTEST = Duration.ofNanos(1);

    private final PlaceholderResolver placeholders;
    private final TextTemplateParser templates;

    WithPermitsParser(PlaceholderResolver placeholders) {
        this.placeholders = placeholders;
        this.templates = new TextTemplateParser(placeholders);
    }

    /** @throws IllegalStateException if no call of the method could succeed */
    WithPermitsOperation parse(AnnotatedMethod annotated) {
        WithPermits annotation = annotated.annotation();
        Duration waitTime = duration(annotated, "waitTime", annotation.waitTime(), Duration.ZERO);
        return new WithPermitsOperation(
                annotated,
                claims(annotated),
                annotation.exclusive(),
                duration(annotated, "ttl", annotation.ttl(), AcquireRequest.MIN_TTL),
                waitTime == null ? Duration.ZERO : waitTime,
                duration(annotated, "maxHold", annotation.maxHold(), SHORTEST),
                owner(annotated),
                annotation.keepAlive());
    }

    private List<WithPermitsOperation.Claim> claims(AnnotatedMethod annotated) {
        String[] names = annotated.annotation().names();
        if (names.length == 0) {
            throw annotated.refuse("it names no semaphore. Name at least one: @WithPermits(\"backup\")");
        }
        int[] permits = permits(annotated, names.length);
        List<WithPermitsOperation.Claim> claims = new ArrayList<>();
        Set<String> literals = new HashSet<>();
        for (int i = 0; i < names.length; i++) {
            TextTemplate name = templates.parse(annotated, "names", names[i]);
            if (name.isLiteral()) {
                requireValid(annotated, "names", name.text(), () -> SemaphoreName.requireValid(name.text()));
                if (!literals.add(name.text())) {
                    throw annotated.refuse("names", name.text(), "is given twice. " + NAMES_ONCE);
                }
            }
            claims.add(new WithPermitsOperation.Claim(name, permits[permits.length == 1 ? 0 : i]));
        }
        return claims;
    }

    private static int[] permits(AnnotatedMethod annotated, int names) {
        int[] permits = annotated.annotation().permits();
        if (permits.length != 1 && permits.length != names) {
            throw annotated.refuse(
                    "permits",
                    Arrays.stream(permits).boxed().toList(),
                    "has %d values for %d names. Give one for all names, or one for each"
                            .formatted(permits.length, names));
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
        return permits;
    }

    private @Nullable TextTemplate owner(AnnotatedMethod annotated) {
        if (annotated.annotation().owner().isEmpty()) {
            return null;
        }
        TextTemplate owner =
                templates.parse(annotated, "owner", annotated.annotation().owner());
        if (owner.text().isEmpty()) {
            return null;
        }
        if (owner.isLiteral()) {
            requireValid(
                    annotated,
                    "owner",
                    owner.text(),
                    () -> AcquireRequest.of("any").withOwner(owner.text()));
        }
        return owner;
    }

    private @Nullable Duration duration(AnnotatedMethod annotated, String attribute, String given, Duration least) {
        String text = placeholders.resolve(annotated, attribute, given);
        if (text.isEmpty()) {
            return null;
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
        if (duration.isNegative()) {
            throw annotated.refuse(attribute, text, "is negative. Give a duration of at least " + least);
        }
        if (duration.compareTo(least) < 0) {
            throw annotated.refuse(attribute, text, "is too short. Give a duration of at least " + least);
        }
        return duration;
    }

    private static void requireValid(AnnotatedMethod annotated, String attribute, String value, Runnable check) {
        try {
            check.run();
        } catch (IllegalArgumentException invalid) {
            throw annotated.refuse(attribute, value, "is not valid. " + invalid.getMessage(), invalid);
        }
    }
}
