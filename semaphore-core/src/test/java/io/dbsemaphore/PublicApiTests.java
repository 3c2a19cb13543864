package io.dbsemaphore;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.dbsemaphore.testing.PublicApi;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The public API is the one of the committed file: nothing that applications use goes away unnoticed. */
class PublicApiTests {

    private static final String[] PACKAGES = {
        "io.dbsemaphore",
        "io.dbsemaphore.admin",
        "io.dbsemaphore.annotation",
        "io.dbsemaphore.aop",
        "io.dbsemaphore.config",
        "io.dbsemaphore.engine",
        "io.dbsemaphore.spi"
    };

    @Test
    void isTheOneThatIsCommitted() throws IOException {
        PublicApi.ofModule(SemaphoreTemplate.class).assertCommitted(PACKAGES);
    }

    /** What every user meets can be read in one go. */
    @Test
    void theRootPackageIsSmall() {
        assertThat(new ClassFileImporter()
                                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                                .importPackages("io.dbsemaphore")
                                .stream()
                                .filter(type ->
                                        type.getPackageName().equals("io.dbsemaphore") && type.isTopLevelClass()))
                .filteredOn(type -> !type.getSimpleName().equals("package-info"))
                .hasSizeBetween(10, 22);
    }

    @Test
    void eachPackageSaysWhetherItIsPublic() throws IOException {
        PublicApi.assertDeclared(PACKAGES);
    }
}
