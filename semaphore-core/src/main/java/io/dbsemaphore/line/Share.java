package io.dbsemaphore.line;

import org.jspecify.annotations.Nullable;

/**
 * The key by which a caller takes part in fair share: first, permits are shared between tenants, then between the keys of a tenant.
 *
 * @param tenant the tenant; empty for callers without a share, which are a tenant of their own
 * @param key the key within the tenant; empty if the share is that of the tenant
 */
public record Share(String tenant, String key) {

    /** The share of callers that have none. */
    public static final Share NONE = new Share("", "");

    /** Separates the tenant from the key. */
    public static final char SEPARATOR = '/';

    /** Parses a share. The first separator ends the tenant. */
    public static Share of(@Nullable String path) {
        if (path == null || path.isEmpty()) {
            return NONE;
        }
        int end = path.indexOf(SEPARATOR);
        return end < 0 ? new Share(path, "") : new Share(path.substring(0, end), path.substring(end + 1));
    }

    public boolean isNone() {
        return tenant.isEmpty();
    }

    /** The share of a key, by which it has a weight within its tenant; empty for callers without a key, whose weight is 1. */
    public String keyPath() {
        return key.isEmpty() ? "" : path();
    }

    /** The share as a text: {@code tenant} or {@code tenant/key}. */
    public String path() {
        return key.isEmpty() ? tenant : tenant + SEPARATOR + key;
    }
}
