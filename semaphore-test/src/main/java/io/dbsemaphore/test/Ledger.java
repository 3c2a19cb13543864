package io.dbsemaphore.test;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.PermitsExceedCapacityException;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.RequestConflictException;
import io.dbsemaphore.RequestInProgressException;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.admin.PatternLimitExceededException;
import io.dbsemaphore.config.OnFull;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.config.Setting;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The semaphores, and the requests that were granted, as in the tables of the database. Guarded by the lock of {@link InMemoryPermits}.
 *
 * <p>The next request that needs the permits of an expired grant reclaims them. Until then its holder can release it, and an acquire with
 * its external id revives it.
 */
final class Ledger {

    /** A hundred years, which can be added to any time of a clock. */
    private static final Duration LONGEST = Duration.ofDays(36_500);

    /** By the name of the semaphore. */
    final SortedMap<String, Integer> capacities = new TreeMap<>();

    /** By external id, in the order of the grants. */
    final Map<String, GrantedRequest> held = new LinkedHashMap<>();

    private final Map<String, GrantedRequest> ended = new HashMap<>();
    private final Map<String, Long> lastTokens = new HashMap<>();
    private final Map<String, Turns> turns = new HashMap<>();
    private final Set<String> createdByPatterns = new HashSet<>();
    private SemaphoreSettings settings;

    Ledger(SemaphoreSettings settings) {
        this.settings = settings;
    }

    SemaphoreSettings settings() {
        return settings;
    }

    void addPattern(String glob, int capacity) {
        settings = settings.withPattern(glob, capacity);
    }

    /** Creates a semaphore. False if it exists; it then no longer belongs to a pattern. */
    boolean create(String name, int capacity) {
        createdByPatterns.remove(name);
        return capacities.putIfAbsent(name, capacity) == null;
    }

    /** Deletes a semaphore. False if it does not exist. */
    boolean delete(String name) {
        createdByPatterns.remove(name);
        turns.remove(name);
        return capacities.remove(name) != null;
    }

    /** A new grant, or that of an earlier request with the same external id. */
    record Granted(GrantedRequest request, boolean replayed) {}

    /**
     * Grants the request of a caller if its permits are available.
     *
     * @param ahead the permits that are withheld for callers ahead, by semaphore
     * @return the grant; null if too few permits are available
     * @throws RuntimeException if the request can never be granted
     */
    @Nullable Granted grant(Caller caller, Map<String, Long> ahead, Instant now) {
        AcquireRequest request = caller.request();
        GrantedRequest earlier = find(caller.externalId());
        if (earlier != null) {
            return new Granted(repeat(caller, earlier, now), true);
        }
        createMissing(request.permits().keySet());
        request.permits().forEach(this::requirePossible);
        if (!shortOf(request, ahead).isEmpty()) {
            reclaim(shortOf(request, ahead), now);
            if (!shortOf(request, ahead).isEmpty()) {
                return null;
            }
        }
        SortedMap<String, Integer> permits = new TreeMap<>();
        Map<String, Long> tokens = new HashMap<>();
        request.permits().forEach((name, count) -> {
            permits.put(name, countOf(name, request));
            tokens.put(name, lastTokens.merge(name, 1L, Long::sum));
        });
        GrantedRequest granted = new GrantedRequest(
                caller,
                request.owner().orElseGet(() -> settings.get(SemaphoreSettings.OWNER)),
                Collections.unmodifiableSortedMap(permits),
                tokens,
                now,
                ttl(caller),
                maxHold(request));
        held.put(granted.externalId, granted);
        return new Granted(granted, false);
    }

    private GrantedRequest repeat(Caller caller, GrantedRequest earlier, Instant now) {
        AcquireRequest request = caller.request();
        if (!earlier.isFor(request)) {
            throw new RequestConflictException(
                    caller.externalId(),
                    request.isExclusive()
                            ? request.permits().keySet() + " exclusively"
                            : request.permits().toString());
        }
        if (earlier.hasEnded()) {
            throw new RequestAlreadyReleasedException(caller.externalId());
        }
        if (!caller.acceptsReplay()) {
            throw new RequestInProgressException(caller.externalId(), earlier.owner);
        }
        earlier.replay(now, ttl(caller), caller.wantsKeepAlive());
        return earlier;
    }

    private void createMissing(Set<String> names) {
        List<String> missing =
                names.stream().filter(name -> !capacities.containsKey(name)).toList();
        List<String> unknown = missing.stream()
                .filter(name -> settings.patternOf(name).isEmpty())
                .toList();
        if (!unknown.isEmpty()) {
            Set<String> existing = new TreeSet<>(capacities.keySet());
            existing.addAll(settings.get(SemaphoreSettings.PATTERNS).keySet());
            throw new SemaphoreNotFoundException(unknown, existing);
        }
        int limit = settings.get(SemaphoreSettings.MAX_PATTERN_SEMAPHORES);
        for (String name : missing) {
            Map.Entry<String, Integer> pattern = settings.patternOf(name).orElseThrow();
            if (createdByPatterns.size() >= limit) {
                throw new PatternLimitExceededException(name, pattern.getKey(), limit);
            }
            capacities.put(name, pattern.getValue());
            createdByPatterns.add(name);
        }
    }

    private void requirePossible(String name, int count) {
        int capacity = capacity(name);
        if (capacity > 0 && count > capacity) {
            throw new PermitsExceedCapacityException(name, count, capacity);
        }
    }

    /** The semaphores of a request that lack available permits. */
    private Set<String> shortOf(AcquireRequest request, Map<String, Long> ahead) {
        Set<String> names = new TreeSet<>();
        request.permits().forEach((name, count) -> {
            int capacity = capacity(name);
            long unavailable = held(name) + ahead.getOrDefault(name, 0L);
            boolean fits = capacity > 0
                    && !isHeldExclusively(name)
                    && (request.isExclusive() ? unavailable == 0 : unavailable + count <= capacity);
            if (!fits) {
                names.add(name);
            }
        });
        return names;
    }

    /**
     * The shortages of a refused caller.
     *
     * @param callers how many callers are ahead of it
     * @param full the limits by which it may not wait, by semaphore
     */
    List<PermitShortage> shortages(
            AcquireRequest request,
            Map<String, Long> ahead,
            ToLongFunction<String> callers,
            Map<String, WaitingLimit> full,
            Instant now) {
        Set<String> names = shortOf(request, ahead);
        names.addAll(full.keySet());
        return names.stream()
                .map(name -> {
                    Optional<WaitingLimit> limit = Optional.ofNullable(full.get(name));
                    return new PermitShortage(
                            name,
                            capacity(name),
                            held(name),
                            countOf(name, request),
                            earliestExpiry(name, now),
                            Math.min(available(name), ahead.getOrDefault(name, 0L)),
                            callers.applyAsLong(name),
                            limit.map(each -> OptionalInt.of(each.max())).orElse(OptionalInt.empty()),
                            false,
                            Optional.empty(),
                            limit.flatMap(WaitingLimit::share));
                })
                .toList();
    }

    private Optional<Instant> earliestExpiry(String name, Instant now) {
        return holders(name).flatMap(holder -> holder.expiresAt(now).stream()).min(Comparator.naturalOrder());
    }

    /** The shortage as if others held the whole capacity. */
    PermitShortage exhausted(String name, AcquireRequest request) {
        createMissing(Set.of(name));
        return new PermitShortage(name, capacity(name), capacity(name), countOf(name, request), Optional.empty());
    }

    /** The shortage of a caller that newer ones have displaced, as many as may wait. */
    PermitShortage displacement(WaitingLimit limit, AcquireRequest request, Instant now) {
        String name = limit.name();
        return new PermitShortage(
                name,
                capacity(name),
                held(name),
                countOf(name, request),
                earliestExpiry(name, now),
                0,
                limit.max(),
                OptionalInt.of(limit.max()),
                true,
                Optional.empty(),
                limit.share());
    }

    private void reclaim(Set<String> names, Instant now) {
        List<GrantedRequest> expired = held.values().stream()
                .filter(request -> !request.isAlive(now))
                .filter(request -> !Collections.disjoint(request.permits.keySet(), names))
                .toList();
        expired.forEach(this::end);
    }

    void end(GrantedRequest request) {
        request.end();
        held.remove(request.externalId);
        ended.put(request.externalId, request);
    }

    /** A request that was granted, whether it is held or has ended. */
    @Nullable GrantedRequest find(String externalId) {
        GrantedRequest found = held.get(externalId);
        return found != null ? found : ended.get(externalId);
    }

    /** The requests that hold permits of a semaphore, in the order of their tokens. */
    Stream<GrantedRequest> holders(String name) {
        return held.values().stream().filter(request -> request.permits.containsKey(name));
    }

    long held(String name) {
        return holders(name)
                .mapToLong(request -> request.permits.getOrDefault(name, 0))
                .sum();
    }

    long available(String name) {
        return isHeldExclusively(name) ? 0 : Math.max(0, capacity(name) - held(name));
    }

    private boolean isHeldExclusively(String name) {
        return holders(name).anyMatch(GrantedRequest::isExclusive);
    }

    /** @throws SemaphoreNotFoundException if the semaphore does not exist */
    int capacity(String name) {
        return Optional.ofNullable(capacities.get(name))
                .orElseThrow(() -> new SemaphoreNotFoundException(List.of(name)));
    }

    /** How many permits of a semaphore a request takes. */
    int countOf(String name, AcquireRequest request) {
        return request.isExclusive() ? capacity(name) : request.permits().getOrDefault(name, 0);
    }

    /** @throws IllegalArgumentException if the time to live is out of bounds */
    Duration checkTtl(Duration ttl) {
        Duration max = settings.get(SemaphoreSettings.MAX_TTL);
        if (ttl.compareTo(AcquireRequest.MIN_TTL) < 0 || ttl.compareTo(max) > 0) {
            throw new IllegalArgumentException("The TTL must be between %s and %s (semaphore.max-ttl): %s"
                    .formatted(AcquireRequest.MIN_TTL, max, ttl));
        }
        return ttl;
    }

    /** @throws IllegalArgumentException if a request exceeds a limit of the settings, or has a share of a semaphore that is not fair */
    void requireWithinLimits(AcquireRequest request) {
        int most = settings.get(SemaphoreSettings.MAX_NAMES_PER_REQUEST);
        if (request.permits().size() > most) {
            throw new IllegalArgumentException("The request names %d semaphores, at most %d are allowed"
                            .formatted(request.permits().size(), most)
                    + " (semaphore.max-names-per-request)");
        }
        Duration maxHeadStart = settings.get(SemaphoreSettings.MAX_HEAD_START);
        if (request.headStart().compareTo(maxHeadStart) > 0) {
            throw new IllegalArgumentException("The head start must be at most %s (semaphore.max-head-start): %s"
                    .formatted(maxHeadStart, request.headStart()));
        }
        request.share().ifPresent(share -> request.permits().keySet().forEach(name -> requireFair(share, name)));
        request.ttl().ifPresent(this::checkTtl);
    }

    private void requireFair(String share, String name) {
        if (!settings.get(SemaphoreSettings.FAIR).of(name)) {
            throw new IllegalArgumentException(
                    ("The share '%s' cannot be kept: semaphore '%s' is not fair (semaphore.semaphores.<name>.fair,"
                                    + " semaphore.defaults.fair), so each instance has a queue of its own. Nothing was"
                                    + " acquired. Set fair to true, or acquire without a share")
                            .formatted(share, name));
        }
    }

    /** How many callers may wait for the semaphores of a request: for each semaphore of all callers, then of those with its share. */
    List<WaitingLimit> waitingLimits(AcquireRequest request) {
        List<WaitingLimit> limits = new ArrayList<>();
        request.permits().keySet().forEach(name -> {
            limits.add(limit(name, Optional.empty(), SemaphoreSettings.MAX_WAITING));
            request.share()
                    .ifPresent(share ->
                            limits.add(limit(name, Optional.of(share), SemaphoreSettings.MAX_WAITING_PER_SHARE)));
        });
        return limits;
    }

    private WaitingLimit limit(String name, Optional<String> share, Setting<PerSemaphore<Integer>> max) {
        boolean keepsNewest = settings.get(SemaphoreSettings.ON_FULL).of(name) == OnFull.KEEP_NEWEST;
        return new WaitingLimit(name, share, settings.get(max).of(name), keepsNewest);
    }

    /** The turns of the callers that wait for a semaphore, which exists. */
    Turns turns(String name) {
        return turns.computeIfAbsent(name, unused -> new Turns(() -> capacity(name), share -> weight(name, share)));
    }

    private int weight(String name, String share) {
        return settings.get(SemaphoreSettings.WEIGHTS).of(name).getOrDefault(share, 1);
    }

    Duration waitTime(AcquireRequest request) {
        Duration waitTime =
                request.waitTime().orElseGet(() -> Collections.max(values(SemaphoreSettings.WAIT_TIME, request)));
        return Collections.min(List.of(waitTime, LONGEST));
    }

    private @Nullable Duration ttl(Caller caller) {
        AcquireRequest request = caller.request();
        if (request.isWithoutTtl()) {
            return null;
        }
        Duration ttl = request.ttl().orElseGet(() -> settings.get(SemaphoreSettings.DEFAULT_TTL));
        return caller.wantsKeepAlive() ? Collections.min(List.of(ttl, maxHold(request))) : ttl;
    }

    private Duration maxHold(AcquireRequest request) {
        Duration maxHold =
                request.maxHold().orElseGet(() -> Collections.min(values(SemaphoreSettings.MAX_HOLD, request)));
        return Collections.min(List.of(maxHold, LONGEST));
    }

    private List<Duration> values(Setting<PerSemaphore<Duration>> setting, AcquireRequest request) {
        return request.permits().keySet().stream()
                .map(settings.get(setting)::of)
                .toList();
    }
}
