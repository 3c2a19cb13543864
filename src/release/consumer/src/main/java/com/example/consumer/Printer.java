package com.example.consumer;

import io.dbsemaphore.Permits;
import io.dbsemaphore.annotation.WithPermits;
import org.springframework.stereotype.Component;

/** One job at a time. */
@Component
class Printer {

    @WithPermits(names = "printer")
    public boolean print() {
        return Permits.current().isHeld();
    }
}
