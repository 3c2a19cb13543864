package com.example.clinic;

import com.sun.management.OperatingSystemMXBean;
import io.dbsemaphore.SemaphoreTemplate;
import java.lang.management.ManagementFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.util.ClassUtils;

/** Prints what the start of an application took, and ends it. */
public final class StartReport {

    private StartReport() {}

    /**
     * Prints {@code started in … ms, … ms CPU}, {@code first acquire … ms}, which is 0 without semaphores, {@code … ms CPU in
     * all}, three seconds later, and {@code live heap … kB}.
     */
    public static void print(ConfigurableApplicationContext context) {
        long millis = System.currentTimeMillis()
                - ManagementFactory.getRuntimeMXBean().getStartTime();
        System.out.printf("started in %d ms, %d ms CPU%n", millis, cpuMillis());
        boolean guarded = ClassUtils.isPresent("io.dbsemaphore.SemaphoreTemplate", null);
        System.out.printf("first acquire %d ms%n", guarded ? FirstAcquire.millis(context) : 0);
        pause();
        System.out.printf("%d ms CPU in all%n", cpuMillis());
        System.gc();
        System.gc();
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1024;
        System.out.printf("live heap %d kB%n", heap);
        if (Boolean.getBoolean("clinic.stay")) {
            context.registerShutdownHook();
        } else {
            Runtime.getRuntime().halt(0);
        }
    }

    private static long cpuMillis() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime() / 1_000_000;
    }

    private static void pause() {
        try {
            Thread.sleep(3_000);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    /** A class of its own, since the application also runs without the library. */
    private static final class FirstAcquire {

        static long millis(ConfigurableApplicationContext context) {
            long begin = System.nanoTime();
            context.getBean(SemaphoreTemplate.class).run("backup", () -> {});
            return (System.nanoTime() - begin) / 1_000_000;
        }
    }
}
