package io.dbsemaphore.boot.actuate;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;

/** The query parameters of a view, which arrive as text. An invalid one is refused with its name and an example. */
final class ViewQuery {

    private final Map<String, String> parameters = new HashMap<>();

    void put(String name, @Nullable String value) {
        if (value != null) {
            parameters.put(name, value);
        }
    }

    /** A required parameter. */
    String text(String name) {
        String value = parameters.get(name);
        if (value == null) {
            throw new IllegalArgumentException("The parameter '%s' is missing".formatted(name));
        }
        return value;
    }

    String text(String name, String fallback) {
        return parameters.getOrDefault(name, fallback);
    }

    int number(String name, int fallback) {
        return parsed(name, Integer::valueOf, "100", fallback);
    }

    long number(String name, long fallback) {
        return parsed(name, Long::valueOf, "0", fallback);
    }

    Duration duration(String name, Duration fallback) {
        return parsed(name, DurationStyle::detectAndParse, "15m", fallback);
    }

    @Nullable Instant instant(String name) {
        return parameters.containsKey(name)
                ? parsed(name, Instant::parse, "2026-01-31T12:00:00Z", Instant.EPOCH)
                : null;
    }

    private <T> T parsed(String name, Function<String, T> parser, String example, T fallback) {
        String value = parameters.get(name);
        if (value == null) {
            return fallback;
        }
        try {
            return parser.apply(value);
        } catch (IllegalArgumentException | DateTimeException invalid) {
            throw new IllegalArgumentException(
                    "The parameter '%s' is invalid: '%s'. An example is %s".formatted(name, value, example), invalid);
        }
    }
}
