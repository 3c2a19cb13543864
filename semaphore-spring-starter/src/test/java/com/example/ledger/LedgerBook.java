package com.example.ledger;

import com.example.Bookkeeping;
import io.dbsemaphore.Permits;
import io.dbsemaphore.annotation.WithPermits;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class LedgerBook implements Bookkeeping {

    private final JdbcTemplate jdbc;

    LedgerBook(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @Override
    @Transactional
    public void book(long id) {
        insert(id);
    }

    @Override
    @Transactional
    @WithPermits("orders")
    public boolean bookUnderPermit(long id) {
        insert(id);
        return Permits.find().isPresent();
    }

    @Override
    @Transactional
    public void bookAndFail(long id) {
        insert(id);
        throw new IllegalStateException("no cover");
    }

    @Override
    public boolean isBooked(long id) {
        return !jdbc.queryForList("select id from ledger_entry where id = ?", id)
                .isEmpty();
    }

    private void insert(long id) {
        jdbc.update("insert into ledger_entry (id) values (?)", id);
    }
}
