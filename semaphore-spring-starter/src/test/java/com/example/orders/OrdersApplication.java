package com.example.orders;

import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application as its own team would write it: JPA found by scanning, Liquibase, annotated services. */
@SpringBootApplication
public class OrdersApplication {}
