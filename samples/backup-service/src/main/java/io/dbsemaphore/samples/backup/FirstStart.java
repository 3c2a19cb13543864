package io.dbsemaphore.samples.backup;

import liquibase.Liquibase;
import liquibase.Scope;
import liquibase.changelog.ChangeLogHistoryService;
import liquibase.changelog.ChangeLogHistoryServiceFactory;
import liquibase.changelog.StandardChangeLogHistoryService;
import liquibase.database.Database;
import liquibase.exception.LiquibaseException;
import liquibase.exception.UnexpectedLiquibaseException;
import liquibase.integration.spring.Customizer;
import liquibase.lockservice.LockService;
import liquibase.lockservice.LockServiceFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Lets several instances start at the same time on an empty database. Where a changelog has an {@code include}, Liquibase
 * creates its history table before it takes its lock, so that all instances but one may fail (liquibase/liquibase#5254).
 */
@Configuration(proxyBeanMethods = false)
class FirstStart {

    @Bean
    Customizer<Liquibase> historyTableUnderLock() {
        return liquibase -> makeHistoryTable(liquibase.getDatabase());
    }

    private static void makeHistoryTable(Database database) {
        ChangeLogHistoryService history = Scope.getCurrentScope()
                .getSingleton(ChangeLogHistoryServiceFactory.class)
                .getChangeLogService(database);
        try {
            if (history instanceof StandardChangeLogHistoryService standard && !standard.hasDatabaseChangeLogTable()) {
                LockService lock = LockServiceFactory.getInstance().getLockService(database);
                lock.waitForLock();
                try {
                    history.reset();
                    history.init();
                } finally {
                    lock.releaseLock();
                }
            }
        } catch (LiquibaseException e) {
            throw new UnexpectedLiquibaseException(e);
        }
    }
}
