package io.dbsemaphore.samples.kotlin

import org.springframework.boot.autoconfigure.SpringBootApplication
import org.springframework.boot.runApplication

@SpringBootApplication(proxyBeanMethods = false)
class BackupApplication

fun main(args: Array<String>) {
    runApplication<BackupApplication>(*args)
}
