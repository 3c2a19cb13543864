package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.spi.ShareWeights;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToIntBiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The weights of shares: the configured one, else the last answer of the bean of the application, else 1. {@link #applyAsInt} never calls
 * the bean, because the queue calls it under its lock. {@link #refresh} does, on other threads and beforehand.
 */
final class Weights implements ToIntBiFunction<String, String> {

    private static final Logger log = LoggerFactory.getLogger(Weights.class);

    private static final int BY_DEFAULT = 1;

    private static final long ASK_AGAIN_AFTER = Duration.ofSeconds(10).toNanos();

    private static final long WARN_AGAIN_AFTER = Duration.ofHours(1).toNanos();

    /** Differences that are further apart are not one difference. */
    private static final long SEEN_AGAIN_WITHIN = Duration.ofMinutes(1).toNanos();

    private static final int MAX_ANSWERS = 100_000;

    private static final int MAX_WARNED = 1_000;

    private final PerSemaphore<Map<String, Integer>> configured;
    private final Supplier<@Nullable ShareWeights> bean;
    private final LongSupplier nanoTime;

    /** The answers of the bean, without those that have not been asked for again for the longest time. */
    private final Map<Share, Answer> answers = new Latest<>(MAX_ANSWERS);

    /** When a warning about a semaphore was logged last. */
    private final Map<String, Long> warned = new Latest<>(MAX_WARNED);

    /** How long other instances have had other weights, by semaphore. */
    private final Map<String, Difference> differentSince = new Latest<>(MAX_WARNED);

    /** A tenant, or a tenant and a key, of a semaphore. */
    private record Share(String semaphore, String path) {}

    private record Answer(int weight, long askedAt) {}

    private record Difference(long since, long seenAt) {}

    /** @param bean supplies the bean; null if there is none, or while it is not known */
    Weights(PerSemaphore<Map<String, Integer>> configured, Supplier<@Nullable ShareWeights> bean) {
        this(configured, bean, System::nanoTime);
    }

    Weights(
            PerSemaphore<Map<String, Integer>> configured,
            Supplier<@Nullable ShareWeights> bean,
            LongSupplier nanoTime) {
        this.configured = configured;
        this.bean = bean;
        this.nanoTime = nanoTime;
    }

    /**
     * The weight of a tenant, or of one of its keys.
     *
     * @param share {@code tenant} or {@code tenant/key}
     */
    @Override
    public int applyAsInt(String semaphore, String share) {
        Integer weight = configured.of(semaphore).get(share);
        if (weight != null) {
            return weight;
        }
        Answer last;
        synchronized (answers) {
            last = answers.get(new Share(semaphore, share));
        }
        return last == null ? BY_DEFAULT : last.weight();
    }

    /** Asks for the weights that the grants of a request count by. To be called before it is queued. */
    void refresh(AcquireRequest request) {
        String share = request.share().orElse(null);
        if (share != null) {
            request.permits().keySet().forEach(name -> refresh(name, share));
        }
    }

    /**
     * Asks the bean for the weight of a share, and of the tenant of a key, unless they are configured or it was asked within the last 10
     * seconds. Calls code of the application: not to be called under a lock.
     *
     * @param share {@code tenant} or {@code tenant/key}; empty for callers without a share
     */
    void refresh(String semaphore, String share) {
        ShareWeights known = share.isEmpty() ? null : known();
        if (known != null) {
            int slash = share.indexOf('/');
            if (slash >= 0) {
                refresh(known, new Share(semaphore, share.substring(0, slash)));
            }
            refresh(known, new Share(semaphore, share));
        }
    }

    /**
     * Warns if another instance has had other weights for the same shares for a while. All instances then share by the larger ones.
     *
     * @param recorded the weights that other instances have recorded, by tenant and by path
     */
    void compare(String semaphore, Map<String, Integer> recorded) {
        String different = null;
        for (Map.Entry<String, Integer> each : recorded.entrySet()) {
            refresh(semaphore, each.getKey());
            different = applyAsInt(semaphore, each.getKey()) == each.getValue() ? different : each.getKey();
        }
        synchronized (differentSince) {
            if (different == null) {
                differentSince.remove(semaphore);
                return;
            }
            long now = nanoTime.getAsLong();
            Difference last = differentSince.get(semaphore);
            Difference present = last == null || now - last.seenAt() > SEEN_AGAIN_WITHIN
                    ? new Difference(now, now)
                    : new Difference(last.since(), now);
            put(differentSince, semaphore, present);
            if (now - present.since() < 2 * ASK_AGAIN_AFTER) {
                return; // the other instance may ask its bean again
            }
        }
        if (mayWarn(semaphore)) {
            log.warn(
                    "Share '{}' of semaphore '{}' has the weight {} here, and {} in another instance. The larger one counts while its"
                            + " callers wait in both. Give all instances the same weights. Further warnings about this semaphore are not"
                            + " logged for an hour",
                    different,
                    semaphore,
                    applyAsInt(semaphore, different),
                    recorded.get(different));
        }
    }

    private void refresh(ShareWeights known, Share share) {
        if (configured.of(share.semaphore()).containsKey(share.path())) {
            return;
        }
        long now = nanoTime.getAsLong();
        synchronized (answers) {
            Answer last = answers.get(share);
            if (last != null && now - last.askedAt() < ASK_AGAIN_AFTER) {
                return;
            }
            if (last != null) { // others use it while this thread asks
                put(answers, share, new Answer(last.weight(), now));
            }
        }
        Answer answer = new Answer(ask(known, share), now);
        synchronized (answers) {
            put(answers, share, answer);
        }
    }

    private int ask(ShareWeights known, Share share) {
        @Nullable Throwable cause = null;
        String problem;
        try {
            int weight = known.weight(share.semaphore(), share.path());
            if (weight >= 1 && weight <= ShareWeights.MAX_WEIGHT) {
                return weight;
            }
            problem = "it returned " + weight + ", which is not between 1 and " + ShareWeights.MAX_WEIGHT;
        } catch (Throwable failure) { // thrown, it would fail an acquire, or a batch of them
            problem = "it threw an exception";
            cause = failure;
        }
        warn(share, problem, cause);
        return BY_DEFAULT;
    }

    private void warn(Share share, String problem, @Nullable Throwable cause) {
        if (!mayWarn(share.semaphore())) {
            return;
        }
        log.warn(
                "ShareWeights gave no weight for share '{}' of semaphore '{}': {}. Its weight is 1. Further warnings about this"
                        + " semaphore are not logged for an hour",
                share.path(),
                share.semaphore(),
                problem,
                cause);
    }

    private boolean mayWarn(String semaphore) {
        long now = nanoTime.getAsLong();
        synchronized (warned) {
            Long last = warned.get(semaphore);
            if (last != null && now - last < WARN_AGAIN_AFTER) {
                return false;
            }
            put(warned, semaphore, now);
            return true;
        }
    }

    private @Nullable ShareWeights known() {
        try {
            return bean.get();
        } catch (Throwable failure) { // as above
            log.debug("The weights of shares cannot be obtained", failure);
            return null;
        }
    }

    /** Puts an entry behind all others. */
    private static <K, V> void put(Map<K, V> latest, K key, V value) {
        latest.remove(key);
        latest.put(key, value);
    }

    /** The entries that were put last. */
    private static final class Latest<K, V> extends LinkedHashMap<K, V> {

        private static final long serialVersionUID = 1L;

        private final int most;

        Latest(int most) {
            this.most = most;
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            return size() > most;
        }
    }
}
