package io.dbsemaphore.samples.reactive;

import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

@RestController
class ExportController {

    private final Exports exports;

    ExportController(Exports exports) {
        this.exports = exports;
    }

    @PostMapping("/invoices/{id}/exports")
    Mono<Invoice> export(@PathVariable long id) {
        return exports.export(id);
    }
}
