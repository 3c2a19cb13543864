package io.dbsemaphore.line;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PlaceTests {

    private final Place early = Place.at(5);
    private final Place late = Place.at(7);

    @Test
    void areInTheOrderOfTheFirstRefusals() {
        assertThat(Stream.of(Place.NONE, late, early).sorted()).containsExactly(early, late, Place.NONE);
    }

    @Test
    void areInTheOrderOfTheirStartTagsBeforeThat() {
        Place laterTag = new Place(1, 3);

        assertThat(Stream.of(Place.NONE, laterTag, late, early).sorted())
                .containsExactly(early, late, laterTag, Place.NONE);
    }
}
