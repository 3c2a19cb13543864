package com.example.consumer;

import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application with the starter. */
@SpringBootApplication
class ConsumerApplication {}
