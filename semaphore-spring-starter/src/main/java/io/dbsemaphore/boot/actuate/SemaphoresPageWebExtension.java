package io.dbsemaphore.boot.actuate;

import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;
import org.springframework.util.MimeType;

/**
 * The endpoint over HTTP with the operator's page: what a browser gets at the URL of the endpoint. Programs, which do not
 * prefer {@code text/html}, get JSON at the same URL.
 */
@EndpointWebExtension(endpoint = SemaphoresEndpoint.class)
public class SemaphoresPageWebExtension extends SemaphoresEndpointWebExtension {

    private static final MimeType HTML = MimeType.valueOf("text/html;charset=UTF-8");

    private final PageDocument document;

    SemaphoresPageWebExtension(
            SemaphoresEndpoint endpoint,
            SemaphoreViews views,
            SemaphoreEndpointProperties properties,
            PageDocument document) {
        super(endpoint, views, properties);
        this.document = document;
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
