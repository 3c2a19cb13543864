package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which values of its settings let a server lose commits. */
class DurabilityTests {

    @ParameterizedTest
    @CsvSource({
        "ON,  0,    '',     true",
        "ON,  1000, '',     true",
        "ON,  1000,       , true", // no such variable before MariaDB 12.3
        "ON,  1,          , false",
        "OFF, 0,          , false",
        "ON,  0,    innodb, false",
        "ON,  0,    InnoDB, false"
    })
    void aBinaryLogIsSyncedUnlessItIsInInnoDb(
            String logBin, String syncBinlog, @Nullable String engine, boolean loses) {
        Map<String, String> values = new HashMap<>(
                Map.of("innodb_flush_log_at_trx_commit", "1", "log_bin", logBin, "sync_binlog", syncBinlog));
        if (engine != null) {
            values.put("binlog_storage_engine", engine);
        }

        assertThat(Database.lossySettings(values)).isEqualTo(loses ? Set.of("sync_binlog") : Set.of());
    }

    /** It then is as durable as a transaction, and no more. */
    @Test
    void aBinaryLogInInnoDbIsLostWithTheTransactions() {
        assertThat(Database.lossySettings(Map.of(
                        "innodb_flush_log_at_trx_commit", "2",
                        "log_bin", "ON",
                        "sync_binlog", "0",
                        "binlog_storage_engine", "innodb")))
                .containsExactly("innodb_flush_log_at_trx_commit");
    }

    @Test
    void onlyWhatTheServerHasLosesCommits() {
        assertThat(Database.lossySettings(Map.of())).isEmpty();
        assertThat(Database.lossySettings(Map.of("fsync", "on", "synchronous_commit", "off")))
                .containsExactly("synchronous_commit");
    }
}
