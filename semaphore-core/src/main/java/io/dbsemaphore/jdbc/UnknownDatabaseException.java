package io.dbsemaphore.jdbc;

/** Thrown for a database that is none of {@link Database}. */
public final class UnknownDatabaseException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String product;
    private final String version;

    UnknownDatabaseException(String product, String version) {
        super(product + " " + version);
        this.product = product;
        this.version = version;
    }

    /** The name of the product, as its driver reports it. */
    public String product() {
        return product;
    }

    /** Its version, as its driver reports it. */
    public String version() {
        return version;
    }
}
