create table ledger_entry (id bigint primary key);
