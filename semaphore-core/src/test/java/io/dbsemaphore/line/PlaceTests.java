package io.dbsemaphore.line;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PlaceTests {

    private final Place early = Places.at(5);
    private final Place late = Places.at(7);

    @Test
    void areInTheOrderOfTheFirstRefusals() {
        assertThat(Stream.of(Place.LAST, late, early).sorted()).containsExactly(early, late, Place.LAST);
    }

    @Test
    void areInTheOrderOfTheirStartTagsBeforeThat() {
        Place laterTag = new Place(1, 3);

        assertThat(Stream.of(Place.LAST, laterTag, late, early).sorted())
                .containsExactly(early, late, laterTag, Place.LAST);
    }
}
