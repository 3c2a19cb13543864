package com.example.ledger;

import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application with a {@code JdbcTemplate}, whose tables are made by a script. */
@SpringBootApplication(
        excludeName = {
            "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
            "org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration"
        })
public class LedgerApplication {}
