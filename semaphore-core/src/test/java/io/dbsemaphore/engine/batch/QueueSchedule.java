package io.dbsemaphore.engine.batch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * What happens to a {@link WorkQueue}, step by step. Each step makes sense after any other, so that a schedule is still one
 * when steps are left out. Its text can be parsed.
 *
 * @param setup from which limits, semaphores, and the end of the schedule are derived
 */
record QueueSchedule(int setup, List<Step> steps) {

    /** From this setup on, callers have shares. */
    static final int WITH_SHARES = 10_000;

    /** From this setup on, callers with shares wait in other instances, too. */
    static final int WITH_OTHERS = 20_000;

    /** From this setup on, their batches are small or fail, meet locked rows, or equal ids: then not all callers whose turn it is are tried together. */
    static final int WITH_SHARES_APART = 30_000;

    /** What may happen, and how often, relative to the others. */
    enum Action {
        ADD(120),
        TAKE(70),
        DECIDE(70),
        FINISH(70),
        FAIL(20),
        RELEASE(40),
        TIME(30),
        POLL(16),
        POLLED(16),
        TRY_LAST(16),
        GIVE_UP(12),
        ABANDON(8),
        OTHERS(24),
        LOCK(8),
        TAKES_RELEASES(10),
        WAKE_FIRST(4),
        CLOSE(1);

        private final int weight;

        Action(int weight) {
            this.weight = weight;
        }

        private static Action random(Random random) {
            int at = random.nextInt(
                    Arrays.stream(values()).mapToInt(each -> each.weight).sum());
            for (Action action : values()) {
                at -= action.weight;
                if (at < 0) {
                    return action;
                }
            }
            throw new IllegalStateException("Beyond the weights");
        }
    }

    /**
     * One step.
     *
     * @param choice which caller, batch, semaphore, … it is about
     */
    record Step(Action action, int choice) {

        @Override
        public String toString() {
            return action + ":" + choice;
        }
    }

    static QueueSchedule random(long seed, int steps) {
        return random(seed, steps, 0);
    }

    /** @param kind 0, or the first setup of a kind of schedules, such as {@link #WITH_SHARES} */
    static QueueSchedule random(long seed, int steps, int kind) {
        Random random = new Random(seed);
        int setup = kind + random.nextInt(10_000);
        List<Step> list = new ArrayList<>();
        for (int i = 0; i < steps; i++) {
            list.add(new Step(Action.random(random), random.nextInt(10_000)));
        }
        return new QueueSchedule(setup, list);
    }

    static QueueSchedule parse(String text) {
        String[] words = text.trim().split("\\s+");
        return new QueueSchedule(
                Integer.parseInt(words[0]),
                Arrays.stream(words)
                        .skip(1)
                        .map(word -> word.split(":"))
                        .map(word -> new Step(Action.valueOf(word[0]), Integer.parseInt(word[1])))
                        .toList());
    }

    /** Leaves out all that is not needed for it to fail, first many steps at a time, then one by one. */
    QueueSchedule shrunk(Predicate<QueueSchedule> fails) {
        QueueSchedule least = this;
        for (int part = steps.size() / 2; part > 0; part /= 2) {
            for (int from = 0; from < least.steps.size(); ) {
                QueueSchedule less = least.without(from, Math.min(least.steps.size(), from + part));
                if (fails.test(less)) {
                    least = less;
                } else {
                    from += part;
                }
            }
        }
        return least;
    }

    private QueueSchedule without(int from, int to) {
        List<Step> rest = new ArrayList<>(steps);
        rest.subList(from, to).clear();
        return new QueueSchedule(setup, rest);
    }

    @Override
    public String toString() {
        return setup + steps.stream().map(step -> " " + step).collect(Collectors.joining());
    }
}
