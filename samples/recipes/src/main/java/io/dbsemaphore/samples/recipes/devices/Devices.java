package io.dbsemaphore.samples.recipes.devices;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import org.springframework.stereotype.Service;

/** A registration is a permit that outlives the process. Its id is that of the application's own record of the device. */
@Service
class Devices {

    private final SemaphoreTemplate semaphores;

    Devices(SemaphoreTemplate semaphores) {
        this.semaphores = semaphores;
    }

    /** Returns whether the user may have this device, too. To repeat it is harmless. */
    boolean register(String user, String registration) {
        AcquireRequest device = AcquireRequest.of("devices:" + user)
                .withExternalId("device:" + registration)
                .withOwner(user)
                .withoutTtl();
        return semaphores.tryAcquire(device).isPresent();
    }

    /** Frees the place for another one, which needs a registration id of its own. */
    void remove(String registration) {
        semaphores.release("device:" + registration);
    }
}
