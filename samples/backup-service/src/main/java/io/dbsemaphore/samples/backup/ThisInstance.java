package io.dbsemaphore.samples.backup;

import java.util.UUID;
import org.springframework.stereotype.Component;

/** This instance of the service, as the job log names it. */
@Component
public class ThisInstance {

    private final String id =
            ProcessHandle.current().pid() + "-" + UUID.randomUUID().toString().substring(0, 8);

    /** The process id, and something that no earlier process had. */
    public String id() {
        return id;
    }
}
