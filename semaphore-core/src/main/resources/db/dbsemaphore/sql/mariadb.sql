-- The tables of DB Semaphore on MariaDB, for applications without Liquibase: copy this file to the application's
-- own migrations, such as Flyway's db/migration/V42__semaphores.sql. Generated from db/dbsemaphore/changelog.xml.
-- Each statement can be run again; existing objects are left unchanged (spring.sql.init.mode=always).
-- With semaphore.jdbc.table-prefix, put the prefix before the names of tables, constraints and indexes, also where
-- they are in quotes.

CREATE TABLE IF NOT EXISTS semaphore (
    id BIGINT NOT NULL,
    name VARCHAR(190) character set utf8mb4 collate utf8mb4_nopad_bin NOT NULL,
    capacity INT NOT NULL,
    fence BIGINT NOT NULL,
    live_from BIGINT DEFAULT 0 NOT NULL,
    pattern VARCHAR(190) character set utf8mb4 collate utf8mb4_nopad_bin NULL,
    created_at datetime(6) NOT NULL,
    updated_at datetime(6) NOT NULL,
    CONSTRAINT pk_semaphore PRIMARY KEY (id),
    CONSTRAINT uq_semaphore_name UNIQUE (name)
) engine=InnoDB;

CREATE TABLE IF NOT EXISTS permit_request (
    id BIGINT NOT NULL,
    external_id VARCHAR(190) character set utf8mb4 collate utf8mb4_nopad_bin NOT NULL,
    owner VARCHAR(190) character set utf8mb4 collate utf8mb4_nopad_bin NOT NULL,
    instance BIGINT NULL,
    state VARCHAR(16) character set utf8mb4 collate utf8mb4_nopad_bin NOT NULL,
    content_digest VARCHAR(64) NOT NULL,
    ttl_millis BIGINT NULL,
    expires_at datetime(6) NULL,
    renewed_at datetime(6) NOT NULL,
    created_at datetime(6) NOT NULL,
    updated_at datetime(6) NOT NULL,
    CONSTRAINT pk_permit_request PRIMARY KEY (id),
    CONSTRAINT uq_permit_request_external_id UNIQUE (external_id)
) engine=InnoDB;

CREATE TABLE IF NOT EXISTS permit (
    id BIGINT NOT NULL,
    semaphore_id BIGINT NOT NULL,
    permit_request_id BIGINT NOT NULL,
    count INT NOT NULL,
    exclusive INT NOT NULL,
    state VARCHAR(16) character set utf8mb4 collate utf8mb4_nopad_bin NOT NULL,
    token BIGINT NOT NULL,
    CONSTRAINT pk_permit PRIMARY KEY (id),
    CONSTRAINT fk_permit_permit_request FOREIGN KEY (permit_request_id) REFERENCES permit_request(id)
) engine=InnoDB;

CREATE TABLE IF NOT EXISTS semaphore_instance (
    id BIGINT NOT NULL,
    owner VARCHAR(190) character set utf8mb4 collate utf8mb4_nopad_bin NOT NULL,
    started_at datetime(6) NOT NULL,
    heartbeat_at datetime(6) NOT NULL,
    expires_at datetime(6) NOT NULL,
    CONSTRAINT pk_semaphore_instance PRIMARY KEY (id)
) engine=InnoDB;

CREATE TABLE IF NOT EXISTS capacity_change (
    id BIGINT NOT NULL,
    semaphore_name VARCHAR(190) character set utf8mb4 collate utf8mb4_nopad_bin NOT NULL,
    from_capacity INT NOT NULL,
    to_capacity INT NOT NULL,
    changed_by VARCHAR(190) character set utf8mb4 collate utf8mb4_nopad_bin NOT NULL,
    reason VARCHAR(1000) character set utf8mb4 NOT NULL,
    changed_at datetime(6) NOT NULL,
    CONSTRAINT pk_capacity_change PRIMARY KEY (id)
) engine=InnoDB;

CREATE INDEX IF NOT EXISTS ix_permit_held ON permit(semaphore_id, state, token, count, exclusive);

CREATE INDEX IF NOT EXISTS ix_permit_request ON permit(permit_request_id);

CREATE INDEX IF NOT EXISTS ix_permit_request_expiry ON permit_request(state, expires_at);

CREATE INDEX IF NOT EXISTS ix_capacity_change_name ON capacity_change(semaphore_name, changed_at);

alter table semaphore add constraint if not exists ck_semaphore_capacity check (capacity >= 0);

alter table permit_request add constraint if not exists ck_permit_request_state check (case state when 'ACQUIRED' then 1 when 'RELEASED' then 1 else 0 end = 1);

alter table permit_request add constraint if not exists ck_permit_request_ttl check (ttl_millis > 0);

alter table permit add constraint if not exists ck_permit_state check (case state when 'ACQUIRED' then 1 when 'RELEASED' then 1 else 0 end = 1);

alter table permit add constraint if not exists ck_permit_count check (count > 0);

alter table permit add constraint if not exists ck_permit_exclusive check (exclusive between 0 and 1);

alter table capacity_change add constraint if not exists ck_capacity_change check (from_capacity >= 0 and to_capacity >= 0);

ALTER TABLE permit ADD COLUMN IF NOT EXISTS checks BIGINT DEFAULT 0 NOT NULL;

ALTER TABLE capacity_change ADD COLUMN IF NOT EXISTS external_id VARCHAR(190) character set utf8mb4 collate utf8mb4_nopad_bin NULL;

ALTER TABLE capacity_change ADD COLUMN IF NOT EXISTS owner VARCHAR(190) character set utf8mb4 collate utf8mb4_nopad_bin NULL;

ALTER TABLE capacity_change ADD COLUMN IF NOT EXISTS permits INT NULL;

CREATE TABLE IF NOT EXISTS semaphore_waiter (
    semaphore_id BIGINT NOT NULL,
    instance BIGINT NOT NULL,
    owner VARCHAR(190) character set utf8mb4 collate utf8mb4_nopad_bin NOT NULL,
    since datetime(6) NOT NULL,
    waiting INT NOT NULL,
    first_waiters VARCHAR(1000) NOT NULL,
    expires_at datetime(6) NOT NULL,
    CONSTRAINT pk_semaphore_waiter PRIMARY KEY (semaphore_id, instance)
) engine=InnoDB;

CREATE INDEX IF NOT EXISTS ix_semaphore_waiter_instance ON semaphore_waiter(instance);

ALTER TABLE semaphore ADD COLUMN IF NOT EXISTS waiters_until datetime(6) NULL;

ALTER TABLE semaphore_instance ADD COLUMN IF NOT EXISTS nonce BIGINT DEFAULT 0 NOT NULL;

ALTER TABLE semaphore ADD COLUMN IF NOT EXISTS capacity_set_by VARCHAR(190) character set utf8mb4 collate utf8mb4_nopad_bin NULL;

ALTER TABLE permit_request ADD COLUMN IF NOT EXISTS label VARCHAR(190) character set utf8mb4 collate utf8mb4_nopad_bin NULL;

ALTER TABLE semaphore_waiter ADD COLUMN IF NOT EXISTS waiters VARCHAR(1000) NULL;

CREATE TABLE IF NOT EXISTS semaphore_share (
    semaphore_id BIGINT NOT NULL,
    share_path VARCHAR(190) character set utf8mb4 collate utf8mb4_nopad_bin NOT NULL,
    finish BIGINT NOT NULL,
    own_finish BIGINT NOT NULL,
    keys_time BIGINT NOT NULL,
    updated_at datetime(6) NOT NULL,
    CONSTRAINT pk_semaphore_share PRIMARY KEY (semaphore_id, share_path)
) engine=InnoDB;

CREATE INDEX IF NOT EXISTS ix_semaphore_share_updated ON semaphore_share(updated_at);

ALTER TABLE semaphore_waiter ADD COLUMN IF NOT EXISTS shares VARCHAR(4000) character set utf8mb4 collate utf8mb4_nopad_bin NULL;

ALTER TABLE permit_request ADD COLUMN IF NOT EXISTS share_path VARCHAR(190) character set utf8mb4 collate utf8mb4_nopad_bin NULL;
