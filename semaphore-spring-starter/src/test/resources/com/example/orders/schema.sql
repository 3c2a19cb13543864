create table customer_order (id bigint primary key, customer_name varchar(255));
