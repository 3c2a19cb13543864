package io.dbsemaphore.test;

import java.util.Optional;

/**
 * How many callers may wait for a semaphore, or how many with the same share.
 *
 * @param share the share; empty if all callers count
 * @param keepsNewest whether a further caller may wait nevertheless, and displaces the one that came first
 */
record WaitingLimit(String name, Optional<String> share, int max, boolean keepsNewest) {

    /** If none may wait, a further caller displaces nobody. */
    WaitingLimit {
        keepsNewest &= max > 0;
    }

    boolean counts(Caller caller) {
        return caller.request().permits().containsKey(name)
                && (share.isEmpty() || share.equals(caller.request().share()));
    }
}
