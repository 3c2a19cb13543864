package io.dbsemaphore.samples.recipes.httpexchange;

import org.springframework.context.annotation.Configuration;
import org.springframework.web.service.registry.ImportHttpServices;

@Configuration
@ImportHttpServices(group = "warehouse", types = Warehouse.class)
class WarehouseClient {}
