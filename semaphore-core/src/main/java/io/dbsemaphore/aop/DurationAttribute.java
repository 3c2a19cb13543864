package io.dbsemaphore.aop;

import java.time.Duration;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Parses the durations of an annotation: {@code 30s}, {@code 1h30m} or {@code PT30S}. A number without a unit is
 * rejected.
 */
final class DurationAttribute {

    private DurationAttribute() {}

    /**
     * Parses a duration.
     *
     * @throws IllegalStateException if the text is not a duration or is shorter than {@code least}
     */
    static Duration parse(AnnotatedMethod annotated, String attribute, String text, Duration least) {
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
}
