package io.dbsemaphore.samples.recipes.devices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.samples.recipes.Instances;
import io.dbsemaphore.testing.Concurrently;
import java.util.List;
import org.junit.jupiter.api.Test;

class DevicesRecipeIntegrationTests {

    @Test
    void threeDevicesOfAUserAreRegisteredWhateverInstancesStop() {
        try (Instances instances = Instances.of("devices")) {
            List<Boolean> registered = Concurrently.call(
                    8, Instances.SOON, i -> instances.bean(i % 2, Devices.class).register("alice", "alice-" + i));
            assertThat(registered).filteredOn(each -> each).hasSize(3);
            Devices first = instances.bean(0, Devices.class);
            Devices second = instances.bean(1, Devices.class);
            String known = "alice-" + registered.indexOf(true);
            assertThat(second.register("alice", known)).as("the same again").isTrue();
            assertThat(first.register("bob", "bob-1")).isTrue();

            instances.stop(0);
            assertThat(second.register("alice", "alice-8")).isFalse();
            second.remove(known);
            assertThatExceptionOfType(RequestAlreadyReleasedException.class)
                    .isThrownBy(() -> second.register("alice", known));
            assertThat(second.register("alice", "alice-9")).isTrue();
            assertThat(second.register("alice", "alice-10")).isFalse();
        }
    }
}
