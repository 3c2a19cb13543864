package io.dbsemaphore.persistence;

import java.util.Collection;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

interface PermitRepository extends Repository<Permit, Long> {

    @Modifying
    @Query("delete from Permit p where p.requestId in :requestIds and p.state = RELEASED")
    int deleteReleased(Collection<Long> requestIds);
}
