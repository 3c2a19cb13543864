package com.example.plainrepositories;

import org.springframework.data.annotation.Id;
import org.springframework.data.annotation.Version;

/** An entity without an annotation of a particular Spring Data module. Its version tells new ones apart. */
public record Customer(@Id Long id, @Version Integer version, String name) {}
