package io.dbsemaphore.tools.faults.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class EventTests {

    @Test
    void areReadAsTheyWereWritten() {
        Event event = new Event(
                7, Event.Kind.GRANTED, "c1.2", "c1.2-w3-4", "id", Map.of("pair", 2L, "wide", 3L), 1500, "replayed");
        assertThat(Event.decode(event.encode(), 7)).isEqualTo(event);
    }

    @Test
    void areOneLineEach() {
        Event event = Event.of(Event.Kind.UNKNOWN, "c1.2", "r", "two\nlines\tand a tab");
        assertThat(Event.decode(event.encode(), 0).detail()).isEqualTo("two lines and a tab");
        assertThat(event.encode()).doesNotContain("\n");
    }
}
