package io.dbsemaphore.samples.recipes.perkey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.samples.recipes.Instances;
import io.dbsemaphore.samples.recipes.SharedInstances;
import io.dbsemaphore.testing.Concurrently;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedInstances.class)
class PerKeyRecipeIntegrationTests {

    @Test
    void booksOneEntryOfAnAccountAtATime(Instances instances) throws Exception {
        CountedWork work = instances.work();
        List<Future<String>> entries = Stream.of("alice", "bob")
                .flatMap(account -> Stream.of(0, 1, 0, 1).map(instance -> book(instances, instance, account)))
                .toList();

        work.awaitFull("alice", 1, () -> instances.waiting("account:alice") == 3);
        work.awaitFull("bob", 1, () -> instances.waiting("account:bob") == 3);
        work.end("alice");
        work.end("bob");
        for (Future<String> entry : entries) {
            Concurrently.get(entry, Instances.SOON);
        }
        assertThat(work.peak("alice")).isEqualTo(1);
        assertThat(work.peak("bob")).isEqualTo(1);

        bookWithoutItsPermit(instances);
    }

    private static void bookWithoutItsPermit(Instances instances) {
        CountedWork work = instances.work();
        Future<String> entry = book(instances, 0, "carol");
        work.awaitFull("carol", 1, () -> true);
        SemaphoreAdmin admin = instances.bean(1, SemaphoreAdmin.class);
        PermitHolder holder = admin.holders("account:carol").get(0);
        admin.forceRelease(holder.externalId(), "test", "to see that the entry is not booked");
        work.end("carol");
        assertThatThrownBy(() -> Concurrently.get(entry, Instances.SOON))
                .hasRootCauseInstanceOf(PermitLostException.class);
    }

    private static Future<String> book(Instances instances, int instance, String account) {
        return Concurrently.async(() -> {
            instances.bean(instance, Accounts.class).book(account, "10 EUR");
            return account;
        });
    }
}
