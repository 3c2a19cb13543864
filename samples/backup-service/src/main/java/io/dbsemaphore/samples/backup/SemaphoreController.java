package io.dbsemaphore.samples.backup;

import io.dbsemaphore.PermitHolder;
import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreStatus;
import java.util.List;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** What the semaphores are at, and who holds them, over all instances. */
@RestController
@RequestMapping("/semaphores")
class SemaphoreController {

    private final SemaphoreAdmin admin;

    SemaphoreController(SemaphoreAdmin admin) {
        this.admin = admin;
    }

    @GetMapping
    List<SemaphoreStatus> list() {
        return admin.list();
    }

    @GetMapping("/{name}/holders")
    List<PermitHolder> holders(@PathVariable String name) {
        return admin.holders(name);
    }
}
