package io.dbsemaphore.samples.benchmark.throughput;

import io.dbsemaphore.samples.benchmark.contestant.Contestants;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;

/** The second JVM from within. Not to be started by hand. */
final class SecondJvmMain {

    private final ObjectInputStream orders;
    private final ObjectOutputStream answers;

    private SecondJvmMain(ObjectInputStream orders, ObjectOutputStream answers) {
        this.orders = orders;
        this.answers = answers;
    }

    /** Takes its orders from standard input until that ends. */
    public static void main(String[] args) throws Exception {
        System.setOut(System.err); // whatever a library prints must not get between the answers
        ObjectOutputStream answers = new ObjectOutputStream(new FileOutputStream(FileDescriptor.out));
        answers.flush();
        new SecondJvmMain(new ObjectInputStream(System.in), answers).run();
        System.exit(0);
    }

    private void run() throws Exception {
        SecondJvm.Start start = (SecondJvm.Start) orders.readObject();
        try (Contestants contestants = new Contestants(
                start.surroundings(), start.approaches(), start.workload().threads(), 1)) {
            answer(SecondJvm.Signal.READY);
            while (true) {
                SecondJvm.Order order = (SecondJvm.Order) orders.readObject();
                Round round = new Round(contestants.get(order.approach()), start.workload(), order.length());
                answer(round.run(() -> {
                    answer(SecondJvm.Signal.READY);
                    orders.readObject();
                }));
            }
        } catch (EOFException theEnd) {
            // the first JVM has no more orders
        }
    }

    private void answer(Serializable answer) throws IOException {
        answers.writeObject(answer);
        answers.flush();
    }
}
