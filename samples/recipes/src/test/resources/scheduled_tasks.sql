create table if not exists scheduled_tasks (
    task_name varchar(100) not null,
    task_instance varchar(100) not null,
    task_data blob,
    execution_time timestamp(6) not null,
    picked boolean not null,
    picked_by varchar(50),
    last_success timestamp(6) null,
    last_failure timestamp(6) null,
    consecutive_failures int,
    last_heartbeat timestamp(6) null,
    version bigint not null,
    priority smallint,
    state varchar(20),
    primary key (task_name, task_instance)
);
