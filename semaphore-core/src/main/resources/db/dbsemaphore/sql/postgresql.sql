-- The tables of DB Semaphore on PostgreSQL, for applications without Liquibase: copy this file to the application's
-- own migrations, such as Flyway's db/migration/V42__semaphores.sql. Generated from db/dbsemaphore/changelog.xml.
-- Each statement can be run again; existing objects are left unchanged (spring.sql.init.mode=always).
-- With semaphore.jdbc.table-prefix, put the prefix before the names of tables, constraints and indexes, also where
-- they are in quotes.

CREATE TABLE IF NOT EXISTS semaphore (
    id BIGINT NOT NULL,
    name VARCHAR(190) collate "C" NOT NULL,
    capacity INTEGER NOT NULL,
    fence BIGINT NOT NULL,
    live_from BIGINT DEFAULT 0 NOT NULL,
    pattern VARCHAR(190) collate "C",
    created_at TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
    updated_at TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
    CONSTRAINT pk_semaphore PRIMARY KEY (id),
    CONSTRAINT uq_semaphore_name UNIQUE (name)
);

CREATE TABLE IF NOT EXISTS permit_request (
    id BIGINT NOT NULL,
    external_id VARCHAR(190) collate "C" NOT NULL,
    owner VARCHAR(190) collate "C" NOT NULL,
    instance BIGINT,
    state VARCHAR(16) collate "C" NOT NULL,
    content_digest VARCHAR(64) NOT NULL,
    ttl_millis BIGINT,
    expires_at TIMESTAMP(6) WITHOUT TIME ZONE,
    renewed_at TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
    created_at TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
    updated_at TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
    CONSTRAINT pk_permit_request PRIMARY KEY (id),
    CONSTRAINT uq_permit_request_external_id UNIQUE (external_id)
);

CREATE TABLE IF NOT EXISTS permit (
    id BIGINT NOT NULL,
    semaphore_id BIGINT NOT NULL,
    permit_request_id BIGINT NOT NULL,
    count INTEGER NOT NULL,
    exclusive INTEGER NOT NULL,
    state VARCHAR(16) collate "C" NOT NULL,
    token BIGINT NOT NULL,
    CONSTRAINT pk_permit PRIMARY KEY (id),
    CONSTRAINT fk_permit_permit_request FOREIGN KEY (permit_request_id) REFERENCES permit_request(id)
);

CREATE TABLE IF NOT EXISTS semaphore_instance (
    id BIGINT NOT NULL,
    owner VARCHAR(190) collate "C" NOT NULL,
    started_at TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
    heartbeat_at TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
    expires_at TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
    CONSTRAINT pk_semaphore_instance PRIMARY KEY (id)
);

CREATE TABLE IF NOT EXISTS capacity_change (
    id BIGINT NOT NULL,
    semaphore_name VARCHAR(190) collate "C" NOT NULL,
    from_capacity INTEGER NOT NULL,
    to_capacity INTEGER NOT NULL,
    changed_by VARCHAR(190) collate "C" NOT NULL,
    reason VARCHAR(1000) NOT NULL,
    changed_at TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
    CONSTRAINT pk_capacity_change PRIMARY KEY (id)
);

CREATE INDEX IF NOT EXISTS ix_permit_held ON permit(semaphore_id, state, token, count, exclusive);

CREATE INDEX IF NOT EXISTS ix_permit_request ON permit(permit_request_id);

CREATE INDEX IF NOT EXISTS ix_permit_request_expiry ON permit_request(state, expires_at);

CREATE INDEX IF NOT EXISTS ix_capacity_change_name ON capacity_change(semaphore_name, changed_at);

DO 'BEGIN
    IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = ''semaphore''::regclass AND conname = lower(''ck_semaphore_capacity'')) THEN
        alter table semaphore add constraint ck_semaphore_capacity check (capacity >= 0);
    END IF;
END';

DO 'BEGIN
    IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = ''permit_request''::regclass AND conname = lower(''ck_permit_request_state'')) THEN
        alter table permit_request add constraint ck_permit_request_state check (case state when ''ACQUIRED'' then 1 when ''RELEASED'' then 1 else 0 end = 1);
    END IF;
END';

DO 'BEGIN
    IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = ''permit_request''::regclass AND conname = lower(''ck_permit_request_ttl'')) THEN
        alter table permit_request add constraint ck_permit_request_ttl check (ttl_millis > 0);
    END IF;
END';

DO 'BEGIN
    IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = ''permit''::regclass AND conname = lower(''ck_permit_state'')) THEN
        alter table permit add constraint ck_permit_state check (case state when ''ACQUIRED'' then 1 when ''RELEASED'' then 1 else 0 end = 1);
    END IF;
END';

DO 'BEGIN
    IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = ''permit''::regclass AND conname = lower(''ck_permit_count'')) THEN
        alter table permit add constraint ck_permit_count check (count > 0);
    END IF;
END';

DO 'BEGIN
    IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = ''permit''::regclass AND conname = lower(''ck_permit_exclusive'')) THEN
        alter table permit add constraint ck_permit_exclusive check (exclusive between 0 and 1);
    END IF;
END';

DO 'BEGIN
    IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = ''capacity_change''::regclass AND conname = lower(''ck_capacity_change'')) THEN
        alter table capacity_change add constraint ck_capacity_change check (from_capacity >= 0 and to_capacity >= 0);
    END IF;
END';

ALTER TABLE permit ADD COLUMN IF NOT EXISTS checks BIGINT DEFAULT 0 NOT NULL;

ALTER TABLE capacity_change ADD COLUMN IF NOT EXISTS external_id VARCHAR(190) collate "C";

ALTER TABLE capacity_change ADD COLUMN IF NOT EXISTS owner VARCHAR(190) collate "C";

ALTER TABLE capacity_change ADD COLUMN IF NOT EXISTS permits INTEGER;

CREATE TABLE IF NOT EXISTS semaphore_waiter (
    semaphore_id BIGINT NOT NULL,
    instance BIGINT NOT NULL,
    owner VARCHAR(190) collate "C" NOT NULL,
    since TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
    waiting INTEGER NOT NULL,
    first_waiters VARCHAR(1000) NOT NULL,
    expires_at TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
    CONSTRAINT pk_semaphore_waiter PRIMARY KEY (semaphore_id, instance)
);

CREATE INDEX IF NOT EXISTS ix_semaphore_waiter_instance ON semaphore_waiter(instance);

ALTER TABLE semaphore ADD COLUMN IF NOT EXISTS waiters_until TIMESTAMP(6) WITHOUT TIME ZONE;

ALTER TABLE semaphore_instance ADD COLUMN IF NOT EXISTS nonce BIGINT DEFAULT 0 NOT NULL;

ALTER TABLE semaphore ADD COLUMN IF NOT EXISTS capacity_set_by VARCHAR(190) collate "C";

ALTER TABLE permit_request ADD COLUMN IF NOT EXISTS label VARCHAR(190) collate "C";

ALTER TABLE semaphore_waiter ADD COLUMN IF NOT EXISTS waiters VARCHAR(1000);

CREATE TABLE IF NOT EXISTS semaphore_share (
    semaphore_id BIGINT NOT NULL,
    share_path VARCHAR(190) collate "C" NOT NULL,
    finish BIGINT NOT NULL,
    own_finish BIGINT NOT NULL,
    keys_time BIGINT NOT NULL,
    updated_at TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
    CONSTRAINT pk_semaphore_share PRIMARY KEY (semaphore_id, share_path)
);

CREATE INDEX IF NOT EXISTS ix_semaphore_share_updated ON semaphore_share(updated_at);

ALTER TABLE semaphore_waiter ADD COLUMN IF NOT EXISTS shares VARCHAR(4000) collate "C";

ALTER TABLE permit_request ADD COLUMN IF NOT EXISTS share_path VARCHAR(190) collate "C";
