package io.dbsemaphore.test;

import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The holders of permits at one time.
 *
 * @param byName the holders of each semaphore that has any
 */
record HeldPermits(SortedMap<String, List<PermitHolder>> byName) {

    static HeldPermits of(SemaphoreAdmin... admins) {
        SortedMap<String, List<PermitHolder>> byName = new TreeMap<>();
        for (SemaphoreAdmin admin : admins) {
            admin.list().stream()
                    .filter(semaphore -> semaphore.held() > 0)
                    .map(SemaphoreStatus::name)
                    .forEach(name -> byName.merge(name, admin.holders(name), HeldPermits::both));
        }
        return new HeldPermits(byName);
    }

    private static List<PermitHolder> both(List<PermitHolder> some, List<PermitHolder> others) {
        return Stream.concat(some.stream(), others.stream()).toList();
    }

    Set<String> externalIds() {
        return byName.values().stream()
                .flatMap(List::stream)
                .map(PermitHolder::externalId)
                .collect(Collectors.toSet());
    }

    /** Leaves out the permits of some requests. */
    HeldPermits without(Set<String> externalIds) {
        SortedMap<String, List<PermitHolder>> others = new TreeMap<>();
        byName.forEach((name, holders) -> others.put(
                name,
                holders.stream()
                        .filter(holder -> !externalIds.contains(holder.externalId()))
                        .toList()));
        others.values().removeIf(List::isEmpty);
        return new HeldPermits(others);
    }

    /** One line for each semaphore; empty if no permit is held. */
    String describe() {
        return byName.entrySet().stream()
                .map(each -> "semaphore '%s': %s".formatted(each.getKey(), describe(each.getValue())))
                .collect(Collectors.joining("\n"));
    }

    static String describe(Collection<PermitHolder> holders) {
        return holders.stream()
                .map(holder -> "%d permit(s) by owner '%s'%s since %s (external id %s)"
                        .formatted(
                                holder.count(),
                                holder.owner(),
                                holder.label().map(label -> " for " + label).orElse(""),
                                holder.acquiredAt(),
                                holder.externalId()))
                .collect(Collectors.joining(", "));
    }
}
