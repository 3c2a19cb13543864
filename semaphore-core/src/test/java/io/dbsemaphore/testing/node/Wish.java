package io.dbsemaphore.testing.node;

import io.dbsemaphore.AcquireRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** The kinds of acquire that a failure must treat alike, each on semaphores of capacity 1, so that a leak shows. */
public enum Wish {
    ONE_NAME(1, false),
    ONE_NAME_WITH_ID(1, true),
    SEVERAL_NAMES(3, false),
    SEVERAL_NAMES_WITH_ID(3, true);

    private final int names;
    private final boolean withId;

    Wish(int names, boolean withId) {
        this.names = names;
        this.withId = withId;
    }

    /** Creates new semaphores and a request for all of them. */
    public AcquireRequest on(Node node) {
        List<String> created = new ArrayList<>();
        for (int i = 0; i < names; i++) {
            String name = SemaphoreRows.name("wished");
            node.admin().create(name, 1);
            created.add(name);
        }
        AcquireRequest request = AcquireRequest.of(created.toArray(String[]::new));
        return withId ? request.withExternalId(UUID.randomUUID().toString()) : request;
    }
}
