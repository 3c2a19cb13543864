package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.admin.SemaphoreAdmin;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.util.MimeType;

/**
 * The endpoint with the operator's page: what a browser gets at its URL. Programs, which do not prefer {@code text/html}, get JSON at
 * the same URL.
 */
public class SemaphoresPageEndpoint extends SemaphoresEndpoint {

    private static final MimeType HTML = MimeType.valueOf("text/html;charset=UTF-8");

    private final PageDocument document;

    SemaphoresPageEndpoint(SemaphoreAdmin admin, SemaphoreEndpointProperties properties, Access access) {
        super(admin, properties, access);
        this.document = new PageDocument(
                access == Access.UNRESTRICTED, properties.setCapacityEnabled(), properties.forceReleaseEnabled());
    }

    /**
     * Returns the page. It has no data; its script reads them from the endpoint.
     *
     * @param securityContext the principal, without which the page may have no buttons
     * @return one self-contained HTML document
     */
    @ReadOperation(produces = "text/html")
    public WebEndpointResponse<String> page(SecurityContext securityContext) {
        return new WebEndpointResponse<>(
                document.render(PageDocument.CsrfHeader.ofCurrentRequest(), mayWrite(securityContext)), HTML);
    }
}
