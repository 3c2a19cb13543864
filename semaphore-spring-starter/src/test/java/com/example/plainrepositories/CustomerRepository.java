package com.example.plainrepositories;

import org.springframework.data.repository.CrudRepository;

/** A repository without an interface of a particular Spring Data module. */
public interface CustomerRepository extends CrudRepository<Customer, Long> {}
