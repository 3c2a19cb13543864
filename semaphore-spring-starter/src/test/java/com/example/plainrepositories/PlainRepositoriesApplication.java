package com.example.plainrepositories;

import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application with Spring Data JDBC or MongoDB, as its own team would write it while that is its only module. */
@SpringBootApplication
public class PlainRepositoriesApplication {}
