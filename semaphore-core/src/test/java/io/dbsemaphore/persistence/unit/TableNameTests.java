package io.dbsemaphore.persistence.unit;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.persistence.SemaphorePersistence;
import jakarta.persistence.Table;
import org.junit.jupiter.api.Test;

class TableNameTests {

    @Test
    void namesTheTableOfEachEntityAndNoOther() {
        assertThat(TableName.each("%s", " ").split(" "))
                .containsExactlyInAnyOrderElementsOf(SemaphorePersistence.ENTITIES.stream()
                        .map(entity -> entity.getAnnotation(Table.class).name())
                        .toList());
    }

    @Test
    void tellsThePrivilegesOfEach() {
        assertThat(TableName.each("%2$s on app_%1$s", "\n"))
                .contains(
                        "select, insert, update on app_semaphore\n",
                        "select, insert, update, delete on app_semaphore_waiter\n",
                        "select, insert, update, delete on app_semaphore_share\n",
                        "select, insert on app_capacity_change");
    }
}
