package com.example.backups;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.dbsemaphore.test.TestRun;
import io.dbsemaphore.test.autoconfigure.AutoConfigureSemaphores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.core.NestedExceptionUtils;

/** A semaphore or pattern without a capacity fails the start of a test in the words in which it fails the start of the application. */
class MissingCapacityTests {

    @ParameterizedTest
    @ValueSource(classes = {InMemory.class, OnADatabase.class})
    void failsTheStart(Class<?> test) {
        assertThat(messageOf(test))
                .isEqualTo(
                        "semaphore.semaphores.backup.capacity is missing. Set it. If this is only the beginning of a name, put the whole name in brackets: semaphore.semaphores.[backup.example].capacity");
    }

    @ParameterizedTest
    @ValueSource(classes = {PatternInMemory.class, PatternOnADatabase.class})
    void ofAPatternFailsTheStart(Class<?> test) {
        assertThat(messageOf(test)).startsWith("semaphore.patterns.[tenant:*].capacity is missing. Set it.");
    }

    private static String messageOf(Class<?> test) {
        return NestedExceptionUtils.getMostSpecificCause(
                        TestRun.of(selectClass(test)).failures().get(0))
                .getMessage();
    }

    abstract static class StartedApplication {

        @Test
        void starts() {}
    }

    private static final String DATABASE = "spring.datasource.url=jdbc:h2:mem:missing";
    private static final String OTHER_SETTING = "semaphore.semaphores.backup.wait-time=1h";
    private static final String MISSPELLED = "semaphore.patterns.[tenant\\:*].capcity=2";

    @SpringBootTest(
            webEnvironment = SpringBootTest.WebEnvironment.NONE,
            properties = {OTHER_SETTING, BackupApplication.NO_DATABASE})
    @AutoConfigureSemaphores
    static class InMemory extends StartedApplication {}

    @SpringBootTest(
            webEnvironment = SpringBootTest.WebEnvironment.NONE,
            properties = {OTHER_SETTING, DATABASE})
    static class OnADatabase extends StartedApplication {}

    @SpringBootTest(
            webEnvironment = SpringBootTest.WebEnvironment.NONE,
            properties = {MISSPELLED, BackupApplication.NO_DATABASE})
    @AutoConfigureSemaphores
    static class PatternInMemory extends StartedApplication {}

    @SpringBootTest(
            webEnvironment = SpringBootTest.WebEnvironment.NONE,
            properties = {MISSPELLED, DATABASE})
    static class PatternOnADatabase extends StartedApplication {}
}
