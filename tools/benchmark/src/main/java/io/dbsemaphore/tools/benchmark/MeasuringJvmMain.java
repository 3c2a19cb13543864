package io.dbsemaphore.tools.benchmark;

import io.dbsemaphore.tools.benchmark.approach.LibraryBuild;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/** The main class of a {@link MeasuringJvm}. */
final class MeasuringJvmMain {

    private final ObjectInputStream commands;
    private final ObjectOutputStream answers;
    private @Nullable OpenScenario open;

    private MeasuringJvmMain(ObjectInputStream commands, ObjectOutputStream answers) {
        this.commands = commands;
        this.answers = answers;
    }

    /** Executes commands until standard input ends. */
    public static void main(String[] args) throws Exception {
        System.setOut(System.err); // what libraries print must not get between the answers
        ObjectOutputStream answers = new ObjectOutputStream(new FileOutputStream(FileDescriptor.out));
        answers.flush();
        int exitCode = 1;
        try {
            new MeasuringJvmMain(new ObjectInputStream(System.in), answers).execute();
            exitCode = 0;
        } catch (Exception failure) {
            failure.printStackTrace();
        }
        System.exit(exitCode); // whatever threads libraries have left behind
    }

    private void execute() throws Exception {
        answer(LibraryBuild.location());
        try {
            while (true) {
                execute(commands.readObject());
            }
        } catch (EOFException endOfCommands) {
            close();
        }
    }

    private void execute(Object command) throws Exception {
        if (command instanceof MeasuringJvm.Open scenario) {
            close();
            open = new OpenScenario(scenario.target(), scenario.scenario(), scenario.cases(), scenario.jvm());
            answer(MeasuringJvm.Signal.READY);
        } else if (command instanceof MeasuringJvm.Run run && open != null) {
            answer(open.run(run.measured(), run.length(), () -> {
                answer(MeasuringJvm.Signal.READY);
                return commands.readObject();
            }));
        }
    }

    private void close() throws Exception {
        if (open != null) {
            open.close();
        }
    }

    private void answer(Serializable answer) throws IOException {
        answers.writeObject(answer);
        answers.flush();
        answers.reset(); // keep no measurement alive
    }
}
