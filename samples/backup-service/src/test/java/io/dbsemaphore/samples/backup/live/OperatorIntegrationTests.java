package io.dbsemaphore.samples.backup.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.samples.backup.JobState;
import io.dbsemaphore.samples.backup.SampleProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An operator looks at two processes of the sample that are at work, and steps in. */
@Tag("slow")
class OperatorIntegrationTests {

    @Test
    void raisesTheCapacityAndReleasesTheHolderOfAnotherProcess() throws Exception {
        Path directory = Files.createTempDirectory(Path.of("target").toAbsolutePath(), "operator-");
        String url = "--spring.datasource.url=jdbc:h2:file:" + directory.resolve("backups")
                + ";AUTO_SERVER=TRUE;WRITE_DELAY=0";
        String endless = "--transfer.min-blocks=100000";
        String endlessToo = "--transfer.max-blocks=100000";
        try (OperatorsPage page = OperatorsPage.start();
                SampleProcess first = SampleProcess.start(
                        directory.resolve("first"), url, endless, endlessToo, "--semaphore.owner=app-1");
                SampleProcess second = SampleProcess.start(
                        directory.resolve("second"), url, endless, endlessToo, "--semaphore.owner=app-2")) {
            first.awaitState(first.backUp("orders"), JobState.RUNNING);
            first.awaitState(first.backUp("invoices"), JobState.RUNNING);
            String stuck = second.backUp("customers");
            second.awaitState(stuck, JobState.RUNNING);
            String refused = first.backUp("mails");

            page.size(1200, 900); // on a phone, the actions of a holder are behind its details
            page.open(first.url("/actuator/semaphores"));
            page.awaitText("3 of 3 held · 1 waiting");
            page.click("//a[@href='#/semaphore/backup']");
            page.awaitText("full", "app-2");

            page.click("//button[.='Change capacity']");
            page.type("#capacity", "4");
            page.type("#reason", "one more disk");
            page.click("//dialog//button[.='Change capacity']");
            page.awaitText("4 of 4 held", "one more disk");
            first.awaitState(refused, JobState.RUNNING);

            page.click("//tr[contains(., 'app-2')]//button[.='Release']");
            page.awaitText("BackupService.backUp loses 1 permit of backup", "app-2");
            page.type("#reason", "it hangs");
            page.click("//dialog//button[.='Release by force']");
            page.awaitText("3 of 4 held", "it hangs");
            second.awaitState(stuck, JobState.FAILED);
            assertThat(first.get("/actuator/semaphores/backup")).contains("\"capacity\":4,\"held\":3,\"available\":1");
        }
    }
}
