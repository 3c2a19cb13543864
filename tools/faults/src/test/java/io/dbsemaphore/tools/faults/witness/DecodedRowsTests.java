package io.dbsemaphore.tools.faults.witness;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.tools.faults.oracle.Findings;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DecodedRowsTests {

    private static final String PERMIT = "id[bigint]:%1$d semaphore_id[bigint]:7 permit_request_id[bigint]:%1$d"
            + " count[integer]:%2$d exclusive[integer]:0 state[character varying]:'%3$s' token[bigint]:5";

    private final Findings findings = new Findings();
    private final HeldPermits held = new HeldPermits(Map.of("it's [1] pair:'x'", 2), findings);
    private final DecodedRows rows = new DecodedRows(held);

    @BeforeEach
    void create() {
        rows.semaphore("INSERT: id[bigint]:7 name[character varying]:'it''s [1] pair:''x''' capacity[integer]:9"
                + " fence[bigint]:1 pattern[character varying]:null"
                + " created_at[timestamp without time zone]:'2026-01-02 03:04:05.678901'");
        rows.committed("0/1");
    }

    @Test
    void tellOfInsertedUpdatedAndDeletedPermits() {
        rows.permit("INSERT: " + PERMIT.formatted(1, 2, "ACQUIRED"));
        rows.committed("0/2");
        rows.permit("UPDATE: " + PERMIT.formatted(1, 2, "RELEASED"));
        rows.permit("INSERT: " + PERMIT.formatted(2, 1, "ACQUIRED"));
        rows.permit("INSERT: " + PERMIT.formatted(3, 1, "ACQUIRED"));
        rows.committed("0/3");
        rows.permit("DELETE: id[bigint]:2");
        rows.permit("INSERT: " + PERMIT.formatted(4, 1, "ACQUIRED"));
        rows.committed("0/4");
        assertThat(findings.isEmpty()).as(findings.toString()).isTrue();
        assertThat(held.commits()).isEqualTo(3);
    }

    @Test
    void findACommitThatExceedsTheCapacity() {
        rows.permit("INSERT: " + PERMIT.formatted(1, 1, "ACQUIRED"));
        rows.permit("UPDATE: old-key: " + PERMIT.formatted(1, 1, "ACQUIRED") + " new-tuple: "
                + PERMIT.formatted(1, 3, "ACQUIRED"));
        rows.committed("0/2");
        assertThat(findings.descriptions(Findings.Kind.LOGGED_OVER_GRANT))
                .containsExactly("it's [1] pair:'x': 3 of 2 held after the commit at 0/2");
    }
}
