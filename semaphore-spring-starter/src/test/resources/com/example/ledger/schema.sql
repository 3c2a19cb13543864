create table if not exists ledger_entry (id bigint primary key);
