package io.dbsemaphore.samples.kotlin

import io.dbsemaphore.SemaphoreTemplate
import java.nio.file.Files
import java.nio.file.Path
import org.assertj.core.api.Assertions.assertThat
import org.jetbrains.kotlin.cli.common.arguments.K2JVMCompilerArguments
import org.jetbrains.kotlin.cli.common.messages.CompilerMessageSeverity
import org.jetbrains.kotlin.cli.common.messages.CompilerMessageSourceLocation
import org.jetbrains.kotlin.cli.common.messages.MessageCollector
import org.jetbrains.kotlin.cli.jvm.K2JVMCompiler
import org.jetbrains.kotlin.config.Services
import org.jspecify.annotations.NullMarked
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** Kotlin sees which values of the contract may be null: lines that ignore it do not compile, all others do. */
class NullabilityTests {

    @TempDir
    lateinit var directory: Path

    @Test
    fun marksTheLinesThatDoNotCompile() {
        val lines = javaClass.getResource("/Nullability.kt")!!.readText().lines()
        val source = Files.write(directory.resolve("Nullability.kt"), lines)
        val expected = lines.mapIndexedNotNull { index, line ->
            line.substringAfter("// error: ", "").takeIf { it.isNotEmpty() }?.let { "${index + 1}: $it" }
        }

        assertThat(compile(source)).containsExactlyElementsOf(expected)
    }

    private fun compile(source: Path): List<String> {
        val errors = mutableListOf<String>()
        val collector = object : MessageCollector {
            override fun clear() = errors.clear()

            override fun hasErrors() = errors.isNotEmpty()

            override fun report(
                severity: CompilerMessageSeverity,
                message: String,
                location: CompilerMessageSourceLocation?,
            ) {
                if (severity.isError) {
                    errors += "${location?.line}: $message"
                }
            }
        }
        K2JVMCompiler().exec(
            collector,
            Services.EMPTY,
            K2JVMCompilerArguments().apply {
                freeArgs = listOf(source.toString())
                classpath = listOf(SemaphoreTemplate::class, NullMarked::class, Unit::class)
                    .joinToString(java.io.File.pathSeparator) {
                        Path.of(it.java.protectionDomain.codeSource.location.toURI()).toString()
                    }
                destination = directory.resolve("classes").toString()
                noStdlib = true
                noReflect = true
            },
        )
        return errors
    }
}
