package io.dbsemaphore.boot.slices;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.Permits;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.annotation.WithPermits;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The application whose slices are tested. */
@SpringBootApplication
class Backups {

    static final String NAME = "backup";

    @RestController
    static class Controller {

        private final ObjectProvider<SemaphoreTemplate> semaphores;

        Controller(ObjectProvider<SemaphoreTemplate> semaphores) {
            this.semaphores = semaphores;
        }

        /** While a permit of a semaphore with one permit is held. */
        @GetMapping("/backup")
        @WithPermits(NAME)
        public String backUp() {
            Permits.assertHeld(NAME);
            return "held " + Permits.current().isHeld() + ", one more "
                    + semaphores.getObject().tryAcquire(AcquireRequest.of(NAME)).isPresent();
        }

        @GetMapping("/refused")
        public String refuse() {
            throw new PermitsUnavailableException(List.of());
        }

        @GetMapping("/self-invocation")
        public String callItself() {
            return backUp();
        }
    }
}
