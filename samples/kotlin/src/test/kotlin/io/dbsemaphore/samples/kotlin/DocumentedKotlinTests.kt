package io.dbsemaphore.samples.kotlin

import java.nio.file.Files
import java.nio.file.Path
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test

/** The code of docs/kotlin.md is that of this module. */
class DocumentedKotlinTests {

    @Test
    fun showsTheSources() {
        val blocks = Regex("```kotlin\n(.*?)```", RegexOption.DOT_MATCHES_ALL)
            .findAll(Files.readString(Path.of("../../docs/kotlin.md")))
            .map { it.groupValues[1].trim() }
            .toList()

        assertThat(blocks).containsExactly(source("BackupService.kt"), source("SuspendingPermits.kt"))
    }

    /** What follows the imports. */
    private fun source(file: String): String =
        Files.readString(Path.of("src/main/kotlin/io/dbsemaphore/samples/kotlin", file))
            .lines().dropWhile { !it.startsWith("import") }.dropWhile { it.startsWith("import") }
            .joinToString("\n").trim()
}
