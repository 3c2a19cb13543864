package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanCreationException;

/** The rows of the host matrix with several data sources. */
class HostMatrixDataSourceTests extends HostMatrixFixture {

    @AfterEach
    void forgetTheTenant() {
        Wirings.Tenants.CURRENT.remove();
    }

    @Test
    void twoDataSourcesOneOfThemPrimary() {
        host = Hosts.orders(Wirings.TwoOnePrimary.class, ONE_PERMIT);

        AtHome.assertIn(host);
        assertThat(permitsEverRequested("orders")).isEqualTo(2);
    }

    @Test
    void twoDataSourcesOneOfThemPrimaryAndTheOtherNamed() {
        host = Hosts.orders(Wirings.TwoOnePrimary.class, ONE_PERMIT, OWN_TABLES, "semaphore.datasource=billing");

        AtHome.assertIn(host);
        assertThat(permitsEverRequested("billing")).isEqualTo(2);
        assertThat(permitsEverRequested("orders")).isZero();
    }

    @Test
    void twoDataSourcesNoneOfThemPrimary() {
        assertThatExceptionOfType(BeanCreationException.class)
                .isThrownBy(() -> Hosts.orders(Wirings.TwoNonePrimary.class, WITHOUT_LIQUIBASE, OWN_TABLES, ONE_PERMIT))
                .havingRootCause()
                .withMessageContaining("billing, orders")
                .withMessageContaining("set semaphore.datasource");
    }

    @Test
    void twoDataSourcesNoneOfThemPrimaryAndOneNamed() {
        host = Hosts.orders(
                Wirings.TwoNonePrimary.class,
                WITHOUT_LIQUIBASE,
                OWN_TABLES,
                ONE_PERMIT,
                "semaphore.datasource=billing");

        AtHome.assertIn(host);
        assertThat(permitsEverRequested("billing")).isEqualTo(2);
    }

    @Test
    void tenantRoutingWithoutANamedTarget() {
        assertThatExceptionOfType(BeanCreationException.class)
                .isThrownBy(() -> Hosts.orders(Wirings.Tenants.class, OWN_TABLES, ONE_PERMIT))
                .havingRootCause()
                .withMessageContaining("chooses a database for each connection")
                .withMessageContaining("Set semaphore.datasource")
                .withMessageContaining("central, north, routing, south");
    }

    @Test
    void tenantRoutingWithANamedTarget() {
        host = Hosts.orders(
                Wirings.Tenants.class,
                WITHOUT_LIQUIBASE,
                TABLES_BY_HIBERNATE,
                OWN_TABLES,
                ONE_PERMIT,
                "semaphore.datasource=central");
        String table = "create table if not exists customer_order (id bigint primary key, customer_name varchar(255))";
        jdbc("north").execute(table);
        jdbc("south").execute(table);
        Wirings.Tenants.CURRENT.set("south");

        AtHome.assertIn(host);
        assertThat(jdbc("south").queryForList("select * from customer_order")).hasSize(2);
        assertThat(jdbc("north").queryForList("select * from customer_order")).isEmpty();
        assertThat(permitsEverRequested("central")).isEqualTo(2);
    }
}
